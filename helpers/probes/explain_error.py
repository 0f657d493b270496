"""What an error says, in four lines."""

import sys
from dataclasses import dataclass

from helpers.guards import NotExamined, never_raises, shorten
from helpers.messages import _
from helpers.pipeline import describe
from helpers.probes import frames
from helpers.probes.known_errors import known_errors


@dataclass(frozen=True)
class Explanation:
    """known: whether the course knows this error. The other fields are None where there is nothing to say."""

    error_class: str | None
    message: str
    stage: str | None
    own_frame: str | None
    means: str
    look: str
    known: bool
    traceback: str

    def __repr__(self) -> str:
        message = shorten(self.message, 2000)
        lines = [f"{self.error_class}: {message}" if self.error_class else message]
        if self.stage:
            lines.append(_("stage:     {stage}").format(stage=self.stage))
        if self.own_frame:
            lines.append(_("your line: {frame}").format(frame=self.own_frame))
        return "\n".join([*lines, _("means:     {text}").format(text=self.means), _("look:      {text}").format(text=self.look)])


@never_raises
def explain_error(error: BaseException | None = None) -> Explanation | NotExamined:
    """Explain an exception; without one, the last that was shown in this notebook.

    ``error``: the exception object. Anything else is answered with a line that says what is needed. Never raises.
    """
    if error is None:
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        if error is None:
            return _not_an_error(_("No error has been raised in this notebook yet."))
    if not isinstance(error, BaseException):
        return _not_an_error(_("explain_error() got {kind}, and needs the exception object.").format(kind=describe(error)))
    error_class, message = frames.core_message(error)
    frame = frames.own_frame(error)
    own = None
    if frame:
        place = "" if "ipykernel_" in frame.filename else f"{frame.filename}, "
        own = _("{place}line {number} in {function}: {code}").format(
            place=place, number=frame.lineno, function=frame.name, code=frame.line or "?"
        )
    known = next((k for k in known_errors() if k.text in frames.text_of(error)), None)
    return Explanation(
        error_class=error_class,
        message=message,
        stage=frames.stage_of(error) or (known.stage if known else None),
        own_frame=own,
        means=known.means if known else _("The course does not know this error."),
        look=known.look if known else _("Read the message word by word, then the value of each name on your own line."),
        known=known is not None,
        traceback=frames.full_traceback(error),
    )


def _not_an_error(message: str) -> Explanation:
    look = _("Catch the error first: try: … except Exception as error: explain_error(error).")
    return Explanation(None, message, None, None, _("There is nothing to explain."), look, False, "")
