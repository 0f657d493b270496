"""From a symptom to its suspects, and to the probes that tell them apart. All of it is read from what was measured, helpers/fault_table.json."""

import functools
import json
import statistics
from dataclasses import dataclass
from pathlib import Path

from helpers.faults import CATALOGUE, SYMPTOMS
from helpers.guards import NotExamined, shorten
from helpers.messages import _


@functools.cache
def measured() -> dict[str, dict]:
    """Script -> what was measured of it: found, seconds, run, symptom. Faults by their names, healthy scripts as "healthy: …"."""
    return json.loads(Path(__file__).with_name("fault_table.json").read_text(encoding="utf-8"))


# What a probe costs. A measurement anew may change the seconds a little, and the prices stay: a test holds them to a factor of two.
POINTS = {
    "walk": 14, "look_at_batch": 1, "audit_labels": 2, "decode_batch": 2, "padding_invariance": 3, "compare_splits": 2, "compare_with_data": 1,
    "loss_at_start": 3, "sample_losses": 4, "gradients_of": 3, "one_step": 5, "rate_over_time": 4, "look_at_fit": 9, "compare_builds": 4,
    "overfit_batch": 46, "evaluate_again": 47,
}  # fmt: skip


def points(probe: str) -> int:
    return POINTS[probe]


def seconds_in_points(probe: str) -> float:
    """The seconds of a probe on the healthy scripts, counted in those of the cheapest probe."""
    healthy = [entry["seconds"] for name, entry in measured().items() if name.startswith("healthy: ")]
    of = {name: statistics.median(seconds[name] for seconds in healthy) for name in healthy[0]}
    return of[probe] / min(of.values())


def suspects_of(symptom: str) -> list[str]:
    """The faults that show this symptom."""
    return [name for name in CATALOGUE if measured()[name]["symptom"] == symptom]


def revealed_by(probe: str, suspects: list[str]) -> dict[str, list[str]]:
    """Finding of the probe -> the suspects of which it finds that. Those of which it finds nothing are left out."""
    shown: dict[str, list[str]] = {}
    for name in suspects:
        for finding in measured()[name]["found"][probe] or ():
            shown.setdefault(finding, []).append(name)
    return shown


def next_probe(suspects: list[str], used=()) -> str | None:
    """The probe that reveals most of the suspects for each point that it costs; None where no probe that is left reveals any."""
    worth = {}
    for probe in measured()["healthy: own_loss"]["found"]:
        if probe not in used:
            worth[probe] = len({name for names in revealed_by(probe, suspects).values() for name in names}) / points(probe)
    best = max(worth, key=worth.get, default=None)
    return best if best and worth[best] else None


@dataclass(frozen=True)
class Triage:
    """plans: symptom -> the probes in the order in which to ask them, each with finding -> suspects."""

    plans: dict[str, list[tuple[str, dict[str, list[str]]]]]

    def __repr__(self) -> str:
        lines = []
        for symptom, plan in self.plans.items():
            suspects = {name for _probe, shown in plan for names in shown.values() for name in names}
            lines += [_("{symptom}: {text} (suspects: {count})").format(symptom=symptom, text=SYMPTOMS[symptom], count=len(suspects))]
            for number, (probe, shown) in enumerate(plan, 1):
                lines.append(_("  {number}. {probe} (costs {points})").format(number=number, probe=probe, points=points(probe)))
                lines += [f"       {finding} → {', '.join(names)}" for finding, names in shown.items()]
        return "\n".join(lines)


def triage(symptom: str | None = None) -> Triage | NotExamined:
    """For one symptom, or for all: which probe to ask first, what its findings point to, and which to ask when it finds nothing."""
    if symptom is not None and not (isinstance(symptom, str) and symptom in SYMPTOMS):
        said = (
            _("there is no symptom {symptom}.").format(symptom=shorten(repr(symptom)))
            if isinstance(symptom, str)
            else _("a symptom has a name.")
        )
        return NotExamined(said, _("Symptoms are: {names}.").format(names=", ".join(SYMPTOMS)))
    return Triage({name: plan_of(suspects_of(name)) for name in ([symptom] if symptom else SYMPTOMS) if suspects_of(name)})


def plan_of(suspects: list[str]) -> list[tuple[str, dict[str, list[str]]]]:
    """The probes in order: each asks for what those before it have not revealed."""
    plan, left = [], list(suspects)
    while left and (probe := next_probe(left, [used for used, _shown in plan])):
        shown = revealed_by(probe, left)
        plan.append((probe, shown))
        left = [name for name in left if not any(name in names for names in shown.values())]
    return plan
