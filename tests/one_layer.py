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
    """Every script and every check of the test finds the checkpoint with one layer."""
    import helpers
    from helpers import repair, sources

    folder = one_layer_checkpoint()
    for module in (helpers, repair, sources):
        monkeypatch.setattr(module, "find_checkpoint", lambda: folder)
