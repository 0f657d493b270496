"""An unseen broken pipeline, and a budget: each probe costs points. Who finds the fault with few probes keeps more of them."""

import random

from helpers.diagnosis import judge_answer, judge_evidence, parts_of, wrong_form
from helpers.exercises import Case, UnknownPipeline, unseen_case
from helpers.faults import CATALOGUE, SYMPTOMS
from helpers.guards import NotExamined, shorten
from helpers.messages import _
from helpers.pipeline import describe
from helpers.probes.run_all import PROBES, answer_of
from helpers.suspects import measured, points
from helpers.verdict import Points, Verdict, never_a_traceback

BUDGET = 20  # points
WRONG_NAME = 2  # points, for each wrong name of the fault; else fifteen guesses were cheaper than a probe


class Investigation:
    """One case. probe(name) runs a probe and pays for it; left: the points that are not spent; asked, guessed: the probes and the wrong names, in order."""

    def __init__(self, case: Case, budget: int):
        self.case, self.budget, self.asked, self.guessed = case, budget, [], []

    @property
    def left(self) -> int:
        return self.budget - sum(points(probe) for probe in self.asked) - WRONG_NAME * len(self.guessed)

    def probe(self, name: str):
        """What the probe of this name finds in the pipeline. The same probe is paid for once."""
        if not isinstance(name, str) or name not in PROBES:
            return NotExamined(
                _("there is no probe {name}.").format(name=shorten(repr(name))), _("Probes are: {names}.").format(names=", ".join(PROBES))
            )
        if name not in self.asked:
            if points(name) > self.left:
                said = _("{name} costs {points} points, and {left} are left.").format(name=name, points=points(name), left=self.left)
                return NotExamined(said, _("Ask a cheaper probe, or name the fault."))
            self.asked.append(name)
        return answer_of(name, parts_of(self.case.ill.script))

    def __repr__(self) -> str:
        entry = measured()[self.case.ill.name]
        shown = ", ".join(f"{name} {value}" for name, value in entry["run"].items())
        symptom = entry["symptom"]
        head = _("Case {name}: {symptom}: {text}.").format(name=self.case.name, symptom=symptom, text=SYMPTOMS[symptom])
        spent = [f"{probe} ({points(probe)})" for probe in self.asked] + [f"{name} ({WRONG_NAME})" for name in self.guessed]
        lines = [head, _("its run: {shown}").format(shown=shown), _("spent: {spent}").format(spent=", ".join(spent) or "-")]
        return "\n".join([*lines, _("points left: {left} of {budget}").format(left=self.left, budget=self.budget)])


def investigate(name: str | None = None, seed: int | None = None, budget: int = BUDGET) -> Investigation | NotExamined:
    """Open a case: that of this name, for example "05/a", or the one that ``seed`` draws from the whole catalogue; the same seed, the same case."""
    for said, number, form in (
        ("seed", 0 if seed is None else seed, "investigate(seed=7)"),
        ("budget", budget, "investigate(seed=7, budget=20)"),
    ):
        if type(number) is not int or number < 0:
            return NotExamined(
                _("{name} is {number}, and must be a whole number, 0 or more.").format(
                    name=said, number=number if type(number) is int else describe(number)
                ),
                _("Write: {form}.").format(form=form),
            )
    if (name is None) is (seed is None):
        said = _("no case is named.") if name is None else _("a name and a seed are two cases.")
        return NotExamined(said, _('Write investigate("05/a"), or draw one: investigate(seed=7).'))
    if seed is not None:
        ill = random.Random(seed).choice(list(CATALOGUE.values()))
        return Investigation(Case(_("of seed {seed}").format(seed=seed), ill, tuple(CATALOGUE), tuple(PROBES)), budget)
    try:
        case = unseen_case(name)
    except UnknownPipeline as unknown:
        return NotExamined(unknown.what, unknown.names)
    return Investigation(case, budget)


@never_a_traceback
def check_investigation(case: Investigation, answer: str, evidence: tuple) -> Verdict:
    """Is the case solved: the fault, evidence from a probe that was asked, and points left? ``evidence``: (probe, field, value).

    The fault is looked at only when the evidence has a probe that was asked. A wrong name costs points.
    """
    held = Points(4)
    if not isinstance(case, Investigation):
        what = _("This is no case.")
        return Verdict(False, (), held.total, what, _('Open one: case = investigate("05/a").'))
    if case.left < 0:
        what = _("More points are spent than there were: {spent} of {budget}.").format(spent=case.budget - case.left, budget=case.budget)
        return Verdict(False, (), held.total, what, _("Open the case anew, and ask a probe before you name a fault."))
    answer = answer.strip().lower() if isinstance(answer, str) else answer
    known, right = judge_answer(case.case, answer)
    if not held.hold(*known):
        return held.verdict()
    wrong = wrong_form(case.case, evidence)
    if not wrong and evidence[0] not in case.asked:
        wrong = _("{probe} was not asked in this case.").format(probe=evidence[0]), _("Ask it: case.probe(…). It costs points.")
    if not held.hold(_("the evidence comes from a probe that was asked"), not wrong, *(wrong or ())):
        return held.verdict()
    held.hold(_("the evidence was measured again, and shows the fault"), *judge_evidence(case.case, evidence, 'case.probe("{probe}")'))
    name, is_right, *told = right
    if not is_right and answer not in case.guessed:
        case.guessed.append(answer)
    held.hold(name, is_right, *told)
    spent = case.budget - case.left
    said = _("Found with {spent} of {budget} points. Probes asked: {count}.").format(spent=spent, budget=case.budget, count=len(case.asked))
    return held.verdict(_("Compare the explanation below with what you thought."), f"{said}\n\n{case.case.ill.explanation}")
