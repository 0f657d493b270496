"""Reading a traceback: the last line that counts, the learner's own frame, the step of training in which it happened."""

import re
import sysconfig
import traceback
from pathlib import Path

LIBRARY_FOLDERS = tuple({sysconfig.get_paths()[key] for key in ("stdlib", "purelib", "platlib")})
HELPERS_FOLDER = str(Path(__file__).resolve().parents[1])

# A function of Keras or Transformers that is on the stack -> the stage of the walk that was going on. The first hit counts.
STAGE_OF_FUNCTION = [
    ("filter_empty_gradients", "gradients"),
    ("_filter_grads", "gradients"),
    ("compute_gradients", "gradients"),
    ("gradient", "gradients"),
    ("apply_gradients", "update"),
    ("test_step", "evaluate"),
    ("compute_loss", "loss"),
    ("compiled_loss", "loss"),
    ("hf_compute_loss", "loss"),
    ("run_call_with_unpacked_inputs", "forward"),
    ("np_get_batch", "batch"),
    ("to_tf_dataset", "batch"),
]

# Signs of a text in which TensorFlow or Keras wrapped the error that counts.
WRAPPED = ("Traceback (most recent call last)", "in user code:", "Graph execution error", "{{function_node", "Exception encountered when")


def text_of(error: BaseException) -> str:
    """str(error), or what can be said where that fails."""
    try:
        return str(error).strip()
    except Exception as failure:
        return f"(its text cannot be read: {type(failure).__name__})"


def core_message(error: BaseException) -> tuple[str, str]:
    """(class name, message) of the error that counts. TensorFlow wraps errors in walls of text; the inner one is dug out."""
    # Python 3.13 adds a guess to "unexpected keyword argument"; the message is the same on every Python without it.
    text = re.sub(r"(unexpected keyword argument '\w+')\. Did you mean '\w+'\?", r"\1", text_of(error))
    text = re.sub(r"(for any variable): \(\[.*", r"\1.", text, flags=re.DOTALL)  # the names of all weights follow
    inner = re.findall(r"^\s*(?:[\w.]+\.)?(\w+(?:Error|Exception|Interrupt|Iteration)): (.+)$", text, re.MULTILINE)
    if inner and any(sign in text for sign in WRAPPED):
        name, message = inner[-1][0], inner[-1][1].strip()
        if not message.startswith("Exception encountered when calling"):
            return name, message
        text = text[text.rindex(message) + len(message) :]  # Keras' line names the layer; what happened stands below it
    else:
        name = type(error).__name__
    noise = (
        "Graph execution error",
        "Detected at node",
        "<stack traces",
        "File ",
        "[[",
        "in user code",
        "Traceback ",
        "Stack trace",
        "Exception encountered when calling",
        "Call arguments received",
        "•",
    )
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith(noise)]
    message = lines[0] if lines else ""
    message = re.sub(r"^\{\{function_node .*?\}\} ?", "", re.sub(r"^\{\{.*?\}\} ?", "", message))
    return name, re.sub(r" \[Op:.*?\].*$", "", message)


def frames_of(error: BaseException) -> list[traceback.FrameSummary]:
    """All frames, outermost first, of the error and of what caused it."""
    chain, frames, seen = error, [], set()
    while chain is not None and id(chain) not in seen:  # "raise error from error" points at itself
        seen.add(id(chain))
        frames += traceback.extract_tb(chain.__traceback__)
        chain = chain.__cause__ or (None if chain.__suppress_context__ else chain.__context__)
    return frames


def is_own(filename: str) -> bool:
    """Whether a file is the learner's: not Python's, not an installed package's, not the course's."""
    if filename.startswith("<frozen"):
        return False
    if filename.startswith("<") or "ipykernel_" in filename:
        return True
    return not filename.startswith((*LIBRARY_FOLDERS, HELPERS_FOLDER)) and "site-packages" not in filename and "__autograph" not in filename


def own_frame(error: BaseException) -> traceback.FrameSummary | None:
    """The innermost frame that is the learner's own, or None."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own(frame.filename)]
    return own[-1] if own else None


def stage_of(error: BaseException) -> str | None:
    """The stage of the walk in which ``error`` was raised, read off the functions on the stack and off the text, or None."""
    names = [frame.name for frame in frames_of(error)]
    text = text_of(error)
    if "IteratorGetNext" in text or "EagerPyFunc" in text:
        return "batch"
    if "Could not find label column(s)" in text or "SoftmaxCrossEntropy" in text:
        return "loss"
    for function, stage in STAGE_OF_FUNCTION:
        if function in names or re.search(rf"in {function}\b|\b{function}\(", text):
            return stage
    return None


def full_traceback(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
