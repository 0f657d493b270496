"""What differs from run to run is taken out of a text, and what a lesson says is left in."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.build.errors_text import essence, normalise, without_numbers

PAIRS = {
    "colours": ("\x1b[31mValueError\x1b[39m: no", "ValueError: no"),
    "a progress bar": ("1/2 [==>...] - ETA: 1:03 - loss: 0.7\b\b\b\b\r2/2 [====] - 35s 180ms/step\n", "2/2 [====] - …s …ms/step\n"),
    "a library's file": (
        'File "/home/a b/.venv/lib/python3.11/site-packages/tf_keras/src/training.py", line 1398, in step',
        'File "tf_keras/src/training.py", line …, in step',
    ),
    "a library's file on Windows": (
        r'File "C:\Users\me\x\Lib\site-packages\tf_keras\training.py", line 7, in step',
        'File "tf_keras/training.py", line …, in step',
    ),
    "IPython's frame": ("File ~/x/.venv/lib/python3.11/site-packages/numpy/core.py:70, in f(x)", "File numpy/core.py:…, in f(x)"),
    "a file of the course": ("in /srv/any/course/helpers/probes/walk.py", "in helpers/probes/walk.py"),
    "a file of the course, installed": ("in /srv/any/lib/site-packages/helpers/probes/walk.py", "in helpers/probes/walk.py"),
    "several counters": ("[Op:Sum_1_2]", "[Op:Sum]"),
    "a temporary file": ("No such file: '/tmp/tmpab12cd34/model.safetensors'", "No such file: '…/model.safetensors'"),
    "a temporary folder": ("in tmpab12cd34 and /var/folders/xy/tmpab12cd34", "in tmp… and …/tmp…"),
    "a generated file": (
        'File "/tmp/__autograph_generated_filefbmhh7gh.py", line 15, in tf__step',
        'File "…/__autograph_generated_file….py", line …, in tf__step',
    ),
    "the learner's cell": ('File "/tmp/ipykernel_123/4567.py", line 5, in loss', 'File "<cell>", line 5, in loss'),
    "the learner's script": ('File "<own_loss 1>", line 12, in compile_model', 'File "<own_loss 1>", line 12, in compile_model'),
    "the number of a cell": ("Cell In[37], line 2", "Cell In[…], line 2"),
    "an address": ("<tf.Module object at 0x7f3a5c001d30>", "<tf.Module object at 0x…>"),
    "a node": ("{{node tf_distil_bert_for_sequence_classification_3/distilbert/x_7}} bad", "{{node …}} bad"),
    "a function's node": ("{{function_node __wrapped__Sparse_device_/job:localhost/device:CPU:0}} bad", "{{function_node …}} bad"),
    "a traced function": ("[Op:__inference_train_function_1234]", "[Op:__inference_train_function_…]"),
    "an operation": ("[Op:SparseSoftmaxCrossEntropyWithLogits] name: ", "[Op:SparseSoftmaxCrossEntropyWithLogits] name:"),
    "a counted iterator": ("[[IteratorGetNext/_4]]", "[[IteratorGetNext/_…]]"),
    "a model's number": (
        "layer 'tf_distil_bert_for_sequence_classification_3' (type TFDistilBert)",
        "layer 'tf_distil_bert_for_sequence_classification' (type TFDistilBert)",
    ),
    "a data set's number": ("passed to MapDataset:3 transformation", "passed to MapDataset:… transformation"),
    "a process": ("pid 4711 and PID: 12", "pid … and PID: …"),
    "durations": ("12.5 seconds, 3s, 1.25 ms", "… seconds, …s, … ms"),
    "the identity in HTML": ('<div id="a1b2"><b>3</b></div>', '<div id="…"><b>3</b></div>'),
    "where a graph was made": (
        'x defined at (most recent call last):\n  File "/usr/lib/runpy.py", line 196, in _run\n\n  File "/usr/x.py", line 2, in y',
        'x defined at (most recent call last): …\n\n  File "…/x.py", line …, in y',
    ),
}


@pytest.mark.parametrize("what", PAIRS)
def test_what_differs_from_run_to_run_is_taken_out(what):
    text, wanted = PAIRS[what]
    assert normalise(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "Received a label value of 2 which is outside the valid range of [0, 2)",
        "Column labels not found in dataset!",
        "OOM when allocating tensor with shape[1024,64] on /job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu",
        "input_ids  (16, 41) int64, label_3 = 1, 5e-5 and/or 188/188",
        "read https://www.tensorflow.org/guide/keras.py and 1 / 2",
        "distilbert/distilbert-base-uncased, ./course.toml, notebooks/01.ipynb",
        "the dataset gave no batch in 30 seconds.",
        "'<unnamed 3>' line 12 of your script",
    ],
)
def test_what_a_lesson_says_is_left_as_it_is(text):
    assert normalise(text) == text


def test_a_library_frame_loses_its_line_numbers_and_an_own_frame_keeps_them():
    text = """\
File ~/v/lib/python3.11/site-packages/tf_keras/utils.py:70, in handler(*args)
      9     # call
---> 70     raise error
     71 finally:

Cell In[3], line 2
      1 x = 1
----> 2 raise ValueError(x)

   12 rows of a table"""
    assert normalise(text).splitlines() == [
        "File tf_keras/utils.py:…, in handler(*args)",
        "            # call",
        "------>     raise error",
        "        finally:",
        "",
        "Cell In[…], line 2",
        "      1 x = 1",
        "----> 2 raise ValueError(x)",
        "",
        "   12 rows of a table",
    ]


def test_the_same_error_from_two_machines_is_the_same_text():
    template = (
        'in user code:\n\n    File "{home}/site-packages/tf_keras/src/engine/training.py", line {line}, in train_function  *\n'
        "    ValueError: {{{{node model_{n}/dense}}}} at 0x{address:x}, {home}/data.csv took {n}.5s\n"
    )
    here = template.format(home="/home/me/.venv/lib/python3.11", line=1398, n=3, address=140_000_000)
    there = template.format(home="/opt/hostedtoolcache/python 3.13/lib".replace(" ", "-"), line=1401, n=12, address=99_999_999)
    assert normalise(here) == normalise(there)


USER_CODE = """\
in user code:

    File "/opt/lib/python{python}/site-packages/tf_keras/training.py", line {line}, in train_function  *
        return step_function(self, iterator)
    File "<own_loss 1>", line 12, in loss  *
        return tf.argmax(logits)

    ValueError: No gradients provided
Traceback (most recent call last):

  File "/opt/lib/python{python}/site-packages/numpy/shape_base.py", line {line}, in stack
    raise ValueError('no')
{carets}
ValueError: no"""


def test_frames_of_libraries_are_stored_and_not_compared():
    old = USER_CODE.format(python="3.11", line=5, carets="    ^^^^^^^^^^^^^^^")
    new = USER_CODE.format(python="3.13", line=7, carets="    ~~~~~^^^^").replace("step_function(self", "outer_step(self")
    assert 'File "tf_keras/training.py", line …, in train_function  *\n        return step_function' in normalise(old)
    assert normalise(old) != normalise(new) and essence(old) == essence(new)
    assert essence(old).split("\n") == [
        "in user code:",
        "",
        '    File "<own_loss 1>", line 12, in loss  *',
        "        return tf.argmax(logits)",
        "",
        "    ValueError: No gradients provided",
        "Traceback (most recent call last):",
        "",
        "ValueError: no",
    ]


def test_trained_numbers_are_no_digits_and_whole_numbers_stay():
    assert without_numbers("epoch 2 of 3: loss 0.5123, accuracy -1.5e-3 of (8, 3), 5e-5") == "epoch 2 of 3: loss …, accuracy … of (8, 3), …"


PIECES = st.sampled_from(
    [text for text, _wanted in PAIRS.values()]
    + [
        "/",
        "\\",
        "~",
        ":",
        '"',
        "'",
        "\n",
        "\r",
        "\b",
        "\x1b[0m",
        " ",
        "…",
        "<",
        ">",
        "File ",
        ".py",
        ":12",
        "line 3",
        "C:",
        "0x",
        "[[",
        "]]",
    ]
    + ["/tmp", "/home/x", "site-packages", "helpers/", "model_3", "12", "3.5", "s", "ms", "pid ", "In[", "{{", "}}", "tmp", "___", "id="]
)
TEXTS = st.one_of(st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=14).map("".join), st.text(max_size=80))


@settings(max_examples=400, deadline=None)
@given(TEXTS)
@example("[" * 5000)
@example("/a" * 3000)
def test_normalising_twice_changes_nothing_more(text):
    once = normalise(text)
    assert normalise(once) == once
    assert essence(essence(text)) == essence(once) == essence(text)
    numbers = without_numbers(text)
    assert without_numbers(numbers) == numbers
    assert without_numbers(once) == numbers


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.characters(blacklist_categories=["Cc", "Cs"]), max_size=60))
def test_a_path_of_any_home_never_shows(name):
    shown = normalise(
        f'File "/home/secret-{name.translate({ord(c): "_" for c in chr(34) + chr(10) + chr(8232) + chr(8233)})}/lib/x.py", line 3'
    )
    assert "secret" not in shown and "line …" in shown
