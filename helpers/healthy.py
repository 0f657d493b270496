"""Fine-tune DistilBERT on MNLI: load -> tokenize -> batch -> build_model -> compile_model -> fit -> evaluate."""

from helpers import find_checkpoint, load_mnli  # before TensorFlow: it chooses Keras 2

import tensorflow as tf
from transformers import AutoTokenizer, DataCollatorWithPadding, TFAutoModelForSequenceClassification

checkpoint = find_checkpoint()
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def load():
    return load_mnli(train_rows=2400, validation_rows=750)


def tokenize(raw):
    def tokenize_rows(rows):
        return tokenizer(rows["premise"], rows["hypothesis"], truncation=True)

    return raw.map(tokenize_rows, batched=True)


def batch(tokenized):
    collator = DataCollatorWithPadding(tokenizer, return_tensors="np")
    options = dict(columns=["input_ids", "attention_mask", "labels"], batch_size=8, collate_fn=collator)
    train = tokenized["train"].to_tf_dataset(shuffle=True, **options)
    validation = tokenized["validation_matched"].to_tf_dataset(**options)
    return train, validation


def build_model():
    return TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)


def compile_model(model):
    model.compile(optimizer=tf.keras.optimizers.Adam(5e-5), metrics=["accuracy"])


def fit(model, train, validation):
    return model.fit(train, validation_data=validation, epochs=1)


def evaluate(model, validation):
    return model.evaluate(validation, return_dict=True)
