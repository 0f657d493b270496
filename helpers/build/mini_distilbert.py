"""Pretrains mini-DistilBERT: a WordPiece vocabulary and a small DistilBERT, from unlabelled text alone.

    python -m helpers.build.mini_distilbert            25 to 45 minutes on 2 cores

Two objectives at once, as BERT had two:

* masked language modelling: 20 % of the words of some rows are hidden and must be restored;
* a sentence-pair objective: the second sentence is a rewritten first one; the model answers three questions for each
  slot (who, place, time, number, ...): does the second say less there (a word was dropped or made more general)? does
  it say more (a word was added or made more special)? was a word exchanged for another? And it answers the same three
  for each part of the sentence (who and what, the deed, where and when). So the targets are *where* and *how*,
  48 yes-or-no answers for each pair, and never the three labels.

The last phase is masked language modelling alone. No sentence of mini-MNLI is in the text. What comes out is a checkpoint in the layout of distilbert-base-uncased.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from helpers import sources
from helpers.build import mini_mnli, world
from helpers.build.scenes import ADDS, BREAKS, KEEPS, SLOTS, chance, change, make_scene, pick, sentence, tell

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "mini_distilbert"
SHAPE = {"n_layers": 4, "dim": 256, "hidden_dim": 768, "n_heads": 4, "max_position_embeddings": 128, "activation": "relu"}
BATCH, WARM_UP = 32, 300


@dataclass(frozen=True)
class Phase:
    """One run of the optimizer: the rate rises to its peak in WARM_UP steps, then falls to zero in a line."""

    steps: int
    peak_rate: float
    hard: float  # the share of rows that have one of the HARD changes
    seed: int
    hide_every: int  # one row in so many has hidden words; the others are asked the QUESTIONS. 1: only words, no question


# What is learnt late is an exchange for a word of the same family (five -> eight, Rome -> Milan) and an exchange of roles.
# The second phase shows mostly those. The third asks no question: without it the 48 answers would stand so openly in the first
# token that a linear classifier on the frozen encoder knew the label (0.984 right), and nothing were left for fine-tuning to do.
# Each phase starts with a fresh answer head.
PHASES = [Phase(8000, 5e-4, 0.0, 100, 4), Phase(4500, 4e-4, 0.6, 200, 4), Phase(600, 5e-4, 0.3, 300, 1)]
HARD = ["number", "number", "place", "place", "look", "look", "manner", "what", "role", "role", "two people"]
CORES = 2  # a batch is halved: two threads with a half each are faster than two threads that share every multiplication
HOW = ("less", "more", "exchanged")
PARTS = {
    "who and what": {"who", "what", "to", "look", "number", "role"},
    "the deed": {"verb", "manner", "negation"},
    "where and when": {"place", "time", "companion", "reason"},
}
QUESTIONS = [f"{how}: {where}" for how in HOW for where in [*(slot for slot in SLOTS if slot != "voice"), *PARTS]]
PAIR_WEIGHT = 30.0  # the mean is over 48 answers, most of them an easy no
NO_DROPOUT = {"dropout": 0.0, "attention_dropout": 0.0, "seq_classif_dropout": 0.0}  # too small a model to lose any of it
HEAD_RANGE = 0.035  # of a fresh head: 0.02 suits a width of 768; sqrt(768 / 256) times as much gives a narrower head the same outputs
ROLE_SLOTS = {"who", "what", "to", "look", "number"}  # what an exchange of roles touches

# ---------------------------------------------------------------- text


def sentences_of_mini_mnli() -> set[str]:
    return {row[key] for rows in mini_mnli.make_all().values() for row in rows for key in ("premise", "hypothesis")}


def hard_changes(wanted: str):
    """The changes of BREAKS that touch the slot ``wanted``; "two people": only the voice turns, which must not be taken for exchanged roles."""
    if wanted == "two people":
        return [entry for entry in KEEPS if entry[0] == "passive"]
    return [entry for entry in BREAKS if entry[1] == wanted]


def make_texts(rng: Random, taken: set[str], hard: float = 0.0) -> tuple[str, str, list[int]]:
    """Two sentences and the QUESTIONS that are answered yes. ``taken``: sentences that must not come up."""
    while True:
        wanted = pick(rng, HARD) if chance(rng, hard) else None
        genre = pick(rng, list(world.GENRES))
        scene = new = make_scene(rng, genre)
        used: set[str] = set()
        yes: set[str] = set()
        plan = [pick(rng, [KEEPS, ADDS, BREAKS]) for _ in range(int(rng.random() * (3 if wanted else 4)))]
        if wanted == "two people" and not (scene.to or (scene.what and scene.what.kind == "person")):
            continue
        if wanted:
            plan = [hard_changes(wanted), *plan]
        for changes in plan:
            found = change(rng, new, changes, used)
            if not found and wanted and not used:
                break  # this scene has nothing of that kind
            if found:
                name, slot, new = found
                used |= {slot} | (ROLE_SLOTS if slot == "role" else set())
                if name not in ("passive", "synonym"):
                    how = "less" if changes is KEEPS else "more" if changes is ADDS else "exchanged"
                    yes |= {f"{how}: {slot}"} | {f"{how}: {part}" for part, slots in PARTS.items() if slot in slots}
        if wanted and not used:
            continue
        first, second = mini_mnli.tell_both(rng, genre, scene, new)
        if not mini_mnli.too_long(first, second) and not {first, second, sentence(tell(scene))} & taken:
            return first, second, sorted(QUESTIONS.index(question) for question in yes)


def train_tokenizer(texts: list[str], size: int = 2000):
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import DistilBertTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]"))],
    )  # fmt: skip
    return DistilBertTokenizerFast(tokenizer_object=tokenizer, do_lower_case=True, model_max_length=SHAPE["max_position_embeddings"])


def batches(rng: Random, tokenizer, taken: set[str], phase: Phase):
    """Endless batches: ids, mask (32, length) int32; labels: hidden words, -100 elsewhere; answers (32, 48) float32; which rows are whole."""
    noise = np.random.default_rng(int(rng.random() * 2**31))
    special = np.array([tokenizer.pad_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id])
    while True:
        pool = [make_texts(rng, taken, phase.hard) for _ in range(BATCH * 32)]
        encoded = tokenizer([a for a, _, _ in pool], [b for _, b, _ in pool], truncation=True, max_length=64)["input_ids"]
        order = sorted(range(len(pool)), key=lambda i: (len(encoded[i]) + 7) // 8 + 0.01 * rng.random())
        groups = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
        for group in sorted(groups, key=lambda _: rng.random()):
            length = -(-max(len(encoded[i]) for i in group) // 8) * 8
            ids = np.zeros((BATCH, length), np.int32)
            answers = np.zeros((BATCH, len(QUESTIONS)), np.float32)
            for row, i in enumerate(group):
                ids[row, : len(encoded[i])] = encoded[i]
                answers[row, pool[i][2]] = 1
            mask = (ids != tokenizer.pad_token_id).astype(np.int32)
            hidden_rows = np.arange(BATCH) % phase.hide_every == 0
            hide = (noise.random(ids.shape) < 0.2) & ~np.isin(ids, special) & hidden_rows[:, None]
            labels = np.where(hide, ids, -100)
            yield np.where(hide, tokenizer.mask_token_id, ids), mask, labels, answers, (~hidden_rows).astype(np.float32)


# ---------------------------------------------------------------- pretraining


def new_model(tokenizer, seed: int = 0):
    import tensorflow as tf
    from transformers import DistilBertConfig, TFDistilBertForMaskedLM

    tf.keras.utils.set_random_seed(seed)
    config = DistilBertConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **NO_DROPOUT, **SHAPE)
    model = TFDistilBertForMaskedLM(config)
    model(model.dummy_inputs)
    return model


def pretrain(model, tokenizer, taken: set[str], phase: Phase) -> None:
    """Train ``model`` (TFDistilBertForMaskedLM) in place. Prints its losses every 100 steps."""
    import tensorflow as tf

    head = tf.keras.layers.Dense(len(QUESTIONS))  # linear: what is asked must stand openly in the first token
    head.build((None, model.config.dim))
    variables = model.trainable_variables + head.trainable_variables
    optimizer = tf.keras.optimizers.Adam(phase.peak_rate)
    optimizer.build(variables)

    def losses(ids, mask, labels, answers, whole):
        hidden = model.distilbert(ids, attention_mask=mask, training=True)[0]
        x = model.vocab_layer_norm(model.act(model.vocab_transform(hidden[:: phase.hide_every])))
        targets = labels[:: phase.hide_every]
        seen = tf.cast(targets >= 0, tf.float32)
        word = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.maximum(targets, 0), model.vocab_projector(x))
        word = tf.reduce_sum(word * seen) / tf.maximum(tf.reduce_sum(seen), 1.0)  # short rows: perhaps no word is hidden
        guess = head(hidden[:, 0])
        pair = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(answers, guess), -1)
        pair = tf.reduce_sum(pair * whole) / tf.maximum(tf.reduce_sum(whole), 1.0)
        right = tf.cast(tf.reduce_all((guess > 0) == (answers > 0.5), -1), tf.float32)
        return word, pair, tf.reduce_sum(right * whole) / tf.maximum(tf.reduce_sum(whole), 1.0)

    @tf.function
    def step(batch, number):
        figures, gradients = [], []
        for half in zip(*(tf.split(part, CORES) for part in batch), strict=True):  # side by side, one core each
            with tf.GradientTape() as tape:
                word, pair, right = losses(*half)
                loss = word + PAIR_WEIGHT * pair
            figures.append((word, pair, right))
            gradients.append([tf.convert_to_tensor(g) for g in tape.gradient(loss, variables)])
        mean = [tf.add_n(parts) / CORES for parts in zip(*gradients, strict=True)]
        clipped, _ = tf.clip_by_global_norm(mean, 1.0)
        rise, fall = number / WARM_UP, tf.maximum((phase.steps - number) / (phase.steps - WARM_UP), 0.0)
        optimizer.learning_rate.assign(phase.peak_rate * tf.minimum(rise, fall))
        optimizer.apply_gradients(zip(clipped, variables, strict=True))
        return [tf.add_n(parts) / CORES for parts in zip(*figures, strict=True)]

    start, shown = time.time(), []
    for number, batch in zip(range(phase.steps), batches(Random(phase.seed), tokenizer, taken, phase), strict=False):
        figures = step([tf.constant(part) for part in batch], tf.constant(number, tf.float32))
        shown.append([float(figure) for figure in figures])
        if (number + 1) % 100 == 0:
            word, pair, right = np.mean(shown, 0)
            seconds = time.time() - start
            print(f"step {number + 1}  words {word:.3f}  pair {pair:.4f}  all answers right {right:.3f}  {seconds:.0f} s", flush=True)
            shown = []


# ---------------------------------------------------------------- saving


def torch_name(name: str) -> tuple[str, bool]:
    """The PyTorch name of a TF variable, and whether its matrix is transposed there."""
    name = name.split(":")[0].split("/", 1)[1]
    name = name.replace("layer_._", "layer.").replace("/", ".")
    transposed = name.endswith(".kernel")
    name = name.replace(".kernel", ".weight").replace(".gamma", ".weight").replace(".beta", ".bias")
    if name.startswith("distilbert.embeddings") and name.endswith("embeddings"):
        name = name.rsplit(".", 1)[0] + ".weight"
    return name, transposed


def save(model, tokenizer, folder: Path) -> None:
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for variable in model.weights:
        name, transposed = torch_name(variable.name)
        value = variable.numpy()
        tensors[name] = np.ascontiguousarray((value.T if transposed else value).astype(np.float16))
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = model.config
    config.architectures, config.initializer_range = ["DistilBertForMaskedLM"], HEAD_RANGE
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def main() -> None:
    import tensorflow as tf

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(CORES)
    taken, rng = sentences_of_mini_mnli(), Random(7)
    tokenizer = train_tokenizer([text for _ in range(20_000) for text in make_texts(rng, taken)[:2]])
    model = new_model(tokenizer)
    for phase in PHASES:
        pretrain(model, tokenizer, taken, phase)
    save(model, tokenizer, arguments.out)
    if arguments.out == FOLDER:
        sources.main(["--write-sums"])


if __name__ == "__main__":
    main()
