"""The embedded checkpoint with the first of its layers only: what a fault does to labels, masks, rates and weights shows there too, in half the time.

The whole checkpoint stands behind helpers/fault_table.json, the tests of the exercises, and the notebooks.
"""

import functools
import tempfile

import pytest


@functools.cache
def one_layer_checkpoint() -> str:
    from transformers import AutoTokenizer, TFAutoModel

    from helpers.sources import find_checkpoint

    folder = tempfile.mkdtemp(prefix="one-layer-")
    model = TFAutoModel.from_pretrained(find_checkpoint(), n_layers=1)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(find_checkpoint()).save_pretrained(folder)
    return folder


@pytest.fixture(autouse=True)
def one_layer(monkeypatch):
    """Every script and every check of the test finds the checkpoint with one layer, and each test draws the same head."""
    import tensorflow as tf

    found_everywhere(monkeypatch, one_layer_checkpoint())
    tf.keras.utils.set_random_seed(0)


@pytest.fixture
def whole_checkpoint(monkeypatch, one_layer):
    """Asked for by a test that needs all layers."""
    from helpers.sources import ASSETS

    found_everywhere(monkeypatch, str(ASSETS / "mini_distilbert"))


def found_everywhere(monkeypatch, folder: str) -> None:
    import helpers
    from helpers import repair, sources

    for module in (helpers, repair, sources):
        monkeypatch.setattr(module, "find_checkpoint", lambda: folder)
