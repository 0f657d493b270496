"""What fit() is told: how many steps, how many epochs, and what its callbacks wait for."""

from dataclasses import dataclass

from helpers.guards import CannotExamine, first_batch, need_model, never_raises
from helpers.messages import _
from helpers.probes.report import report
from helpers.probes.walk import call_of, dataset_of, eagerly, quiet


@dataclass(frozen=True)
class FitCall:
    """epochs, steps_per_epoch: as fit() is called, None where it is not said · batches: that the training data have, None where they do not
    know · reported: the names that Keras reports after an epoch · monitors: the names that callbacks wait for.
    """

    epochs: int
    steps_per_epoch: int | None
    batches: int | None
    reported: list[str]
    monitors: list[str]
    findings: dict[str, str]

    def __repr__(self) -> str:
        lines = [(_("epochs"), self.epochs), (_("steps of an epoch"), self.steps_per_epoch or "-"), (_("batches"), self.batches or "-")]
        lines += [(_("reported"), ", ".join(self.reported)), (_("waited for"), ", ".join(self.monitors) or "-")]
        return report(lines, self.findings)


@never_raises
def look_at_fit(fit, model, train, validation) -> FitCall:
    """Call ``fit(model, train, validation)``, note what it tells model.fit(), and let it train one batch only. The model changes: make a new one.

    ``fit``: the script's function. ``model``: compiled. ``train``, ``validation``: tf.data.Datasets.
    """
    need_model(model)
    given, model_fit = {}, model.fit
    few = [dataset_of(first_batch(part)) for part in (train, validation)]

    def one_batch_of(*args, **kwargs):
        given.update(call_of(model_fit, args, kwargs).arguments)
        return model_fit(few[0], validation_data=few[1] if given["validation_data"] is not None else None, verbose=0)

    model.fit = one_batch_of
    try:
        with quiet(), eagerly(model):
            history = fit(model, train, validation)
    finally:
        del model.fit
    if not given:
        raise CannotExamine(_("this function does not call model.fit()."), _("Pass the script's fit, and the model that it trains."))
    batches = int(train.cardinality()) if int(train.cardinality()) >= 0 else None
    callbacks = given["callbacks"] or []
    callbacks = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
    monitors = [callback.monitor for callback in callbacks if hasattr(callback, "monitor")]
    reported, findings = list(getattr(history, "history", {})), {}
    missing = [name for name in monitors if name not in reported]
    if missing:
        findings["monitor_missing"] = _("A callback waits for {missing}, and Keras reports {reported}.").format(
            missing=missing[0], reported=", ".join(reported)
        )
    steps = given["steps_per_epoch"]
    if steps and batches and steps > batches:
        findings["out_of_data"] = _("An epoch is to have {steps} steps, and the data end after {batches}.").format(
            steps=steps, batches=batches
        )
    return FitCall(given["epochs"], steps, batches, reported, monitors, findings)
