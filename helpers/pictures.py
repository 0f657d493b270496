"""Pictures of what the probes find. Each is drawn with matplotlib, and says its numbers in words too, for those who do not see it."""

import io
from dataclasses import dataclass

import numpy as np

from helpers.curves import parting_step, smoothed
from helpers.messages import _

# Colours that stay apart for colour-blind eyes: Okabe and Ito, "Color Universal Design", 2008
BLUE, ORANGE, GREEN, RED, GREY, BLACK = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#8C8C8C", "#222222"
SIZE = (6.4, 3.2)  # inches


@dataclass(frozen=True)
class Picture:
    """A picture with its numbers in words. A notebook shows the picture; a text, a screen reader and GitHub's preview have the words."""

    figure: object
    words: str

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, include=None, exclude=None):
        png = io.BytesIO()
        self.figure.savefig(png, format="png", dpi=96, facecolor="white")  # a white card: readable on a dark page too
        return {"image/png": png.getvalue(), "text/plain": self.words}, {"image/png": {"alt": self.words}}


def canvas(title: str, x: str, y: str, size=SIZE):
    """(figure, axes) with a title and named axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def draw_losses(seen) -> Picture:
    """The loss of each row, by its label; rows whose loss is not finite stand at the top. ``seen``: of sample_losses()."""
    losses, rows = np.asarray(seen.losses), np.arange(len(seen.losses))
    bad = ~np.isfinite(losses)
    figure, axes = canvas(_("Loss of each row"), _("row"), _("loss (nats)"))
    top = 1.25 * losses[~bad].max() if (~bad).any() else 1.0
    for label, colour, mark in zip(
        sorted(set(seen.labels)), (BLUE, ORANGE, GREEN, BLACK) * len(losses), "osD^" * len(losses), strict=False
    ):
        of_label = np.asarray([one == label for one in seen.labels])
        axes.plot(rows[of_label & ~bad], losses[of_label & ~bad], mark, color=colour, label=_("label {label}").format(label=label))
        axes.plot(rows[of_label & bad], np.full((of_label & bad).sum(), top), mark, color=colour, mec=RED, mew=2, ms=8)
    if bad.any():
        axes.axhline(top, color=RED, lw=0.8, ls=":")
        axes.text(1.01, top, _("not finite"), transform=axes.get_yaxis_transform(), va="center", color=RED)
    axes.set_ylim(0, 1.15 * top)
    figure.legend(loc="outside lower left", frameon=False, ncols=4, fontsize=8)
    said = _("{count} of {rows} rows have a loss that is not finite: rows {bad}.") if bad.any() else _("All {rows} losses are finite.")
    return Picture(figure, said.format(count=int(bad.sum()), rows=len(losses), bad=", ".join(map(str, rows[bad]))))


def draw_sweep(sweep) -> Picture:
    """The loss over a rising learning rate, where it climbs, and a tenth of that rate. ``sweep``: of sweep_rates()."""
    figure, axes = canvas(_("A rising learning rate"), _("learning rate"), _("loss, mean of 10 (nats)"))
    axes.semilogx(sweep.rates, sweep.losses, color=BLUE)
    said = [_("The loss starts at {first:.2f}").format(first=sweep.losses[0])]
    if sweep.climbs:
        axes.axvline(sweep.climbs, color=RED, ls=":", label=_("climbs from: {rate:.0e}").format(rate=sweep.climbs))
        axes.axvspan(sweep.climbs, sweep.rates[-1], color=RED, alpha=0.08, lw=0)
        axes.axvline(sweep.tenth, color=GREEN, ls="--", label=_("a tenth of that: {rate:.0e}").format(rate=sweep.tenth))
        axes.legend(frameon=False, loc="lower right")
        said += [_("it is lowest at {rate:.0e}, {loss:.2f}").format(rate=sweep.climbs, loss=min(sweep.losses))]
        said += [_("and climbs from there to {last:.2f}").format(last=sweep.losses[-1])]
    return Picture(figure, ", ".join(said) + ".")


def draw_curves(curves: dict[str, list[float]], chance: float | None = None, smooth: int = 10) -> Picture:
    """Losses of runs over each other. ``curves``: name -> the loss of each batch. ``chance``: ln C. Where two runs part is marked."""
    figure, axes = canvas(_("Loss of each batch, mean of {count}").format(count=smooth), _("step"), _("loss (nats)"))
    said = []
    for (name, losses), colour, style in zip(curves.items(), (RED, BLUE, GREEN, BLACK) * 9, ("-", "--", "-.", ":") * 9, strict=False):
        mean = smoothed(losses, smooth)
        axes.plot(mean, style, color=colour, label=name)
        said.append(_("{name}: {first:.2f} at the start, {last:.2f} at the end").format(name=name, first=mean[0], last=mean[-1]))
    parted = parting_step(*curves.values(), smooth=smooth) if len(curves) == 2 else None
    if parted is not None:
        axes.axvline(parted, color=GREY, lw=1)
        side = "left" if parted < 0.6 * axes.get_xlim()[1] else "right"
        axes.annotate(_(" they part at step {step} ").format(step=parted), (parted, axes.get_ylim()[0]), color=BLACK, ha=side, va="bottom")
        said.append(_("they part after {share:.2f} of the steps").format(share=parted / min(map(len, curves.values()))))
    if chance:
        axes.axhline(chance, color=GREY, ls=":", label=_("guessing: {chance:.2f}").format(chance=chance))
    axes.legend(frameon=False, loc="best")
    return Picture(figure, "; ".join(said) + ".")


def draw_labels(counts: dict, names: list[str] | None = None) -> Picture:
    """How many rows each class has. ``counts``: class id -> rows, of audit_labels(). ``names``: of the classes, by their ids."""
    shown = [f"{label} {names[label]}" if names and isinstance(label, int) and 0 <= label < len(names) else str(label) for label in counts]
    figure, axes = canvas(_("Rows of each class"), _("rows"), "", (6.4, 1.3 + 0.35 * len(counts)))
    axes.barh(shown, list(counts.values()), color=BLUE)
    axes.axvline(sum(counts.values()) / max(len(names or counts), 1), color=BLACK, ls=":", label=_("even share"))
    axes.invert_yaxis()
    figure.legend(loc="outside lower right", frameon=False, fontsize=8)
    return Picture(figure, ", ".join(f"{name}: {count}" for name, count in zip(shown, counts.values(), strict=True)) + ".")


def draw_confusion(scores, names: list[str]) -> Picture:
    """What the model answers for each label, and beside it how it would stand with the most frequent class. ``scores``: of score_against_baseline()."""
    figure, axes = canvas(_("Labels and answers (rows)"), _("answer"), _("label"), (6.4, 3.4))
    table = np.asarray(scores.confusion)
    axes.imshow(table, cmap="Blues", vmin=0, vmax=max(table.max(), 1))
    for (row, column), count in np.ndenumerate(table):
        axes.text(column, row, count, ha="center", va="center", color="white" if count > 0.6 * table.max() else BLACK)
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks(range(len(names)), names)
    axes.spines[:].set_visible(False)
    bars = axes.inset_axes((1.35, 0.2, 0.45, 0.6))
    bars.bar([0, 1], [scores.predicted, scores.majority], color=[BLUE, GREY])
    bars.set_xticks([0, 1], [_("model"), _("majority")])
    bars.set_ylim(0, 1)
    bars.set_title(_("accuracy"), fontsize=9)
    bars.spines[["top", "right"]].set_visible(False)
    for place, value in enumerate((scores.predicted, scores.majority)):
        bars.text(place, value, f"{value:.2f}", ha="center", va="bottom", fontsize=8)
    said = [f"{name}: {dict(zip(names, map(int, row), strict=True))}" for name, row in zip(names, table, strict=True)]
    head = _("Accuracy {model:.2f}, majority {majority:.2f}. Answers by label: ").format(model=scores.predicted, majority=scores.majority)
    return Picture(figure, head + "; ".join(said) + ".")


def draw_batch(batch, tokenizer, rows: int = 8) -> Picture:
    """One batch as a map: a square for each token, by what it is and by what the mask says of it. ``batch``: of a tf.data.Dataset."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    from helpers.batches import inputs_of

    inputs = inputs_of(batch)
    ids = np.asarray(inputs["input_ids"])[:rows]
    mask = np.asarray(inputs["attention_mask"])[:rows] == 1 if "attention_mask" in inputs else np.ones(ids.shape, bool)
    padding, special = ids == tokenizer.pad_token_id, np.isin(ids, (tokenizer.cls_token_id, tokenizer.sep_token_id))
    kind = np.where(padding, np.where(mask, 3, 0), np.where(mask, np.where(special, 2, 1), 4))
    kinds = [
        ("#E6E6E6", _("padding, left out")),
        (BLUE, _("text")),
        (BLACK, _("[CLS], [SEP]")),
        (RED, _("padding, read as text")),
        (ORANGE, _("text, left out")),
    ]
    figure, axes = canvas(_("One batch: tokens and mask"), _("position"), _("row"), (6.4, 1.4 + 0.2 * len(ids)))
    axes.pcolormesh(kind, cmap=ListedColormap([colour for colour, _name in kinds]), vmin=-0.5, vmax=4.5, edgecolors="white", linewidth=0.6)
    axes.invert_yaxis()
    axes.set_yticks(np.arange(len(ids)) + 0.5, range(len(ids)))
    there = [number for number in range(len(kinds)) if (kind == number).any()]
    figure.legend(handles=[Patch(color=kinds[number][0], label=kinds[number][1]) for number in there], loc="outside lower left", ncols=4, frameon=False, fontsize=8)  # fmt: skip
    counts = ", ".join(f"{kinds[number][1]}: {int((kind == number).sum())}" for number in there)
    return Picture(figure, _("{rows} rows of {length} positions. {counts}.").format(rows=len(ids), length=ids.shape[1], counts=counts))
