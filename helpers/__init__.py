"""Helpers of the course "Debugging the training pipeline".

Everything a notebook needs is imported from here, and only when it is asked for: ``import helpers`` starts no TensorFlow.
"""

from importlib import import_module

from helpers import environment

environment.prepare()

# name -> module that holds it
_WHERE = {
    "find_checkpoint": "helpers.sources",
    "load_mnli": "helpers.sources",
    "mnli_details": "helpers.sources",
    "assets_source": "helpers.sources",
    "CourseAssetError": "helpers.sources",
    "Pipeline": "helpers.pipeline",
    "pipeline_from_script": "helpers.pipeline",
    "healthy_script": "helpers.pipeline",
    "without_autotune": "helpers.pipeline",
    "fault": "helpers.faults",
    "walk": "helpers.probes.walk",
    "look_at_batch": "helpers.probes.look_at_batch",
    "explain_error": "helpers.probes.explain_error",
    "audit_labels": "helpers.probes.audit_labels",
    "decode_batch": "helpers.probes.decode_batch",
    "padding_invariance": "helpers.probes.padding_invariance",
    "compare_splits": "helpers.probes.compare_splits",
    "compare_with_data": "helpers.probes.compare_with_data",
    "sample_losses": "helpers.probes.sample_losses",
    "loss_at_start": "helpers.probes.loss_at_start",
    "gradients_of": "helpers.probes.gradients_of",
    "one_step": "helpers.probes.one_step",
    "rate_over_time": "helpers.probes.rate_over_time",
    "sweep_rates": "helpers.probes.sweep_rates",
    "overfit_batch": "helpers.probes.overfit_batch",
    "look_at_fit": "helpers.probes.look_at_fit",
    "compare_builds": "helpers.probes.compare_builds",
    "evaluate_again": "helpers.probes.evaluate_again",
    "score_against_baseline": "helpers.probes.score_against_baseline",
    "batch_losses": "helpers.curves",
    "draw_batch": "helpers.pictures",
    "draw_confusion": "helpers.pictures",
    "draw_curves": "helpers.pictures",
    "draw_labels": "helpers.pictures",
    "draw_losses": "helpers.pictures",
    "draw_sweep": "helpers.pictures",
    "hint": "helpers.course",
    "check_diagnosis": "helpers.checks",
    "check_repair": "helpers.checks",
    "load_planted": "helpers.planted",
    "check_audit": "helpers.planted",
    "ask_for_help": "helpers.asking",
    "check_investigation": "helpers.investigation",
    "investigate": "helpers.investigation",
    "triage": "helpers.suspects",
    "unseen_pipeline": "helpers.exercises",
    "show_diff": "helpers.scripts",
    "show_script": "helpers.scripts",
    "check_machine": "helpers.machine",
    "course_map": "helpers.start_page",
}
__all__ = sorted(_WHERE)


def __getattr__(name: str):
    if name not in _WHERE:
        raise AttributeError(f"helpers has no {name!r}. It has: {', '.join(__all__)}.")
    value = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
