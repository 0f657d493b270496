"""Run a pipeline in a test: few rows, real fit()."""

from dataclasses import dataclass

from helpers.guards import release
from helpers.pipeline import Pipeline, pipeline_from_script, without_autotune
from helpers.probes.frames import core_message


@dataclass
class Run:
    """reached: the last stage that was entered; error: (class, message) or None; scores: of evaluate()."""

    reached: str
    error: tuple[str, str] | None = None
    scores: dict | None = None
    exception: Exception | None = None


def small(script: str, rows: int = 64) -> Pipeline:
    """The same script on few rows."""
    assert "train_rows=2400, validation_rows=750" in script
    return pipeline_from_script(script.replace("train_rows=2400, validation_rows=750", f"train_rows={rows}, validation_rows=16"))


def run(pipeline: Pipeline, seed: int = 0, eagerly: bool = False) -> Run:
    """All stages as they stand. ``eagerly``: fit() without a graph, which saves ten seconds where no graph error is asked for."""
    import tensorflow as tf

    tf.keras.utils.set_random_seed(seed)
    stage = "load"
    try:
        raw = pipeline.load()
        stage = "tokenize"
        tokenized = pipeline.tokenize(raw)
        stage = "batch"
        train, validation = map(without_autotune, pipeline.batch(tokenized))
        stage = "build_model"
        model = pipeline.build_model()
        stage = "compile_model"
        pipeline.compile_model(model)
        model.run_eagerly = eagerly
        stage = "fit"
        pipeline.fit(model, train, validation)
        stage = "evaluate"
        return Run(stage, scores=pipeline.evaluate(model, validation))
    except Exception as error:
        release(error)
        return Run(stage, error=core_message(error), exception=error)
