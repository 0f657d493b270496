"""A small Hugging Face Hub on 127.0.0.1, for the real clients: huggingface_hub, datasets and transformers.

It serves two repositories in the layout of the real ones: nyu-mll/glue (parquet, made from mini-MNLI) and
distilbert/distilbert-base-uncased (a tiny random DistilBERT as PyTorch writes it). It can also go wrong on purpose.

    with LoopbackHub(make_glue(rows), make_distilbert()) as hub:
        ... a subprocess with HF_ENDPOINT=hub.url ...
        hub.fault, hub.fault_at = "cut", "model.safetensors"

Faults, for every path that contains ``fault_at``: "500", "cut" (half a file, then the line is closed), "missing" (404, not listed),
"gone" (listed, but 404), "corrupt" (right size, wrong bytes), "slow" (no answer). A Hub that is down is one that was stopped.

    python tests/loopback_hub.py        serves for ten minutes, to try it by hand
"""

import contextlib
import hashlib
import io
import json
import re
import socket
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LONGEST_WAIT = 20  # seconds that a slow answer takes at most
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SHAPE = {"n_layers": 2, "dim": 32, "hidden_dim": 48, "n_heads": 4, "max_position_embeddings": 128}


# ---------------------------------------------------------------- repositories


@dataclass
class Repo:
    """``name`` as in the address ("nyu-mll/glue"), ``kind`` "models" or "datasets", ``files``: path -> bytes."""

    name: str
    kind: str
    files: dict[str, bytes] = field(default_factory=dict)

    def describe(self, path: str) -> dict:
        """What the Hub says about one file. Large files have a SHA-256, small ones git's SHA-1, as on the real Hub."""
        data = self.files[path]
        known = {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()}
        if path.endswith((".parquet", ".safetensors")):
            known["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134}
        return known


def make_glue(rows: dict[str, list[dict]]) -> Repo:
    """nyu-mll/glue with one configuration, mnli. ``rows``: split -> rows; the test splits get label -1, as in GLUE."""
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features(
        {
            "premise": Value("string"),
            "hypothesis": Value("string"),
            "label": ClassLabel(names=["entailment", "neutral", "contradiction"]),
            "idx": Value("int32"),
        }
    )
    rows = rows | {f"test_{kind}": [{**row, "label": -1} for row in rows[f"validation_{kind}"][:20]] for kind in ("matched", "mismatched")}
    files, sizes = {}, []
    for split, split_rows in rows.items():
        columns = {name: [row[name] for row in split_rows] for name in features}
        parquet = io.BytesIO()
        Dataset.from_dict(columns, features=features).to_parquet(parquet)
        files[f"mnli/{split}-00000-of-00001.parquet"] = parquet.getvalue()
        sizes.append(f"  - name: {split}\n    num_bytes: {len(parquet.getvalue())}\n    num_examples: {len(split_rows)}\n")
    patterns = "".join(f"  - split: {split}\n    path: mnli/{split}-*\n" for split in rows)
    card = f"""---
language:
- en
dataset_info:
- config_name: mnli
  features:
  - name: premise
    dtype: string
  - name: hypothesis
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': entailment
          '1': neutral
          '2': contradiction
  - name: idx
    dtype: int32
  splits:
{"".join(sizes)}  download_size: {sum(map(len, files.values()))}
  dataset_size: {sum(map(len, files.values()))}
configs:
- config_name: mnli
  data_files:
{patterns}---
# A stand-in for GLUE
"""
    return Repo("nyu-mll/glue", "datasets", {"README.md": card.encode(), ".gitattributes": b"*.parquet filter=lfs\n", **files})


def make_distilbert(words: list[str] | None = None, seed: int = 0) -> Repo:
    """distilbert/distilbert-base-uncased in small: random weights, PyTorch's names and transposes, one model.safetensors."""
    from safetensors.numpy import save
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    letters = list("abcdefghijklmnopqrstuvwxyz.,")
    vocabulary = [*SPECIAL, *letters, *("##" + letter for letter in letters), *sorted({*(words or [])} - {*letters})]
    tokenizer = Tokenizer(models.WordPiece({word: number for number, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    config = {
        "activation": "gelu",
        "architectures": ["DistilBertForMaskedLM"],
        "attention_dropout": 0.1,
        "dropout": 0.1,
        "initializer_range": 0.02,
        "model_type": "distilbert",
        "pad_token_id": 0,
        "qa_dropout": 0.1,
        "seq_classif_dropout": 0.2,
        "sinusoidal_pos_embds": False,
        "tie_weights_": True,
        "vocab_size": len(vocabulary),
        **SHAPE,
    }
    files = {
        ".gitattributes": b"*.safetensors filter=lfs\n",
        "README.md": b"---\nlicense: apache-2.0\n---\n# A stand-in for DistilBERT\n",
        "config.json": json.dumps(config, indent=2).encode(),
        "model.safetensors": save(random_distilbert(len(vocabulary), seed), metadata={"format": "pt"}),
        "tokenizer.json": tokenizer.to_str().encode(),
        "tokenizer_config.json": json.dumps({"do_lower_case": True, "model_max_length": SHAPE["max_position_embeddings"]}).encode(),
        "vocab.txt": "".join(word + "\n" for word in vocabulary).encode(),
    }
    return Repo("distilbert/distilbert-base-uncased", "models", files)


def random_distilbert(vocabulary: int, seed: int = 0, dtype=np.float32) -> dict[str, np.ndarray]:
    """The tensors of a DistilBertForMaskedLM as PyTorch saves them: a Linear's weight is (out, in); the tied projector has a bias only."""
    rng = np.random.default_rng(seed)
    dim, hidden = SHAPE["dim"], SHAPE["hidden_dim"]
    tensors = {}

    def linear(name: str, outputs: int, inputs: int):
        tensors[f"{name}.weight"] = rng.normal(0, 0.02, (outputs, inputs)).astype(dtype)
        tensors[f"{name}.bias"] = rng.normal(0, 0.02, outputs).astype(dtype)

    def norm(name: str):
        tensors[f"{name}.weight"] = rng.normal(1, 0.02, dim).astype(dtype)
        tensors[f"{name}.bias"] = rng.normal(0, 0.02, dim).astype(dtype)

    for name, size in (("word", vocabulary), ("position", SHAPE["max_position_embeddings"])):
        tensors[f"distilbert.embeddings.{name}_embeddings.weight"] = rng.normal(0, 0.02, (size, dim)).astype(dtype)
    norm("distilbert.embeddings.LayerNorm")
    for number in range(SHAPE["n_layers"]):
        layer = f"distilbert.transformer.layer.{number}"
        for part in ("q_lin", "k_lin", "v_lin", "out_lin"):
            linear(f"{layer}.attention.{part}", dim, dim)
        norm(f"{layer}.sa_layer_norm")
        linear(f"{layer}.ffn.lin1", hidden, dim)
        linear(f"{layer}.ffn.lin2", dim, hidden)
        norm(f"{layer}.output_layer_norm")
    linear("vocab_transform", dim, dim)
    norm("vocab_layer_norm")
    tensors["vocab_projector.bias"] = rng.normal(0, 0.02, vocabulary).astype(dtype)
    return tensors


# ---------------------------------------------------------------- the server


class LoopbackHub:
    """Serves while the ``with`` block runs. ``requests``: (method, path, status, bytes of body) of each answer, in order."""

    def __init__(self, *repos: Repo):
        self.repos = {(repo.kind, repo.name): repo for repo in repos}
        self.fault: str | None = None
        self.fault_at = ""
        self.requests: list[tuple[str, str, int, int]] = []
        self.stopping = threading.Event()
        self.connections: set[socket.socket] = set()

    def __enter__(self):
        hub = self

        class Handler(_Handler):
            pass

        Handler.hub = hub
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_error):
        self.stop()

    def stop(self) -> None:
        """From now on the Hub is down: its port refuses connections."""
        if not self.stopping.is_set():
            self.stopping.set()
            self.server.shutdown()
            self.server.server_close()
            for connection in list(self.connections):  # clients keep theirs open and would still get answers
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def heal(self) -> None:
        self.fault = None

    def sent(self, part: str) -> int:
        """Bytes of body sent in answers to GET on paths that contain ``part``."""
        return sum(size for method, path, _status, size in self.requests if method == "GET" and part in path)


class _Handler(BaseHTTPRequestHandler):
    hub: LoopbackHub
    protocol_version = "HTTP/1.1"
    timeout = 30  # a silent client does not keep a thread for ever

    def setup(self):
        super().setup()
        self.hub.connections.add(self.connection)

    def finish(self):
        self.hub.connections.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def do_GET(self):
        self.answer()

    def do_HEAD(self):
        self.answer()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(body)

    def log_message(self, *_arguments):
        pass

    def answer(self, body: bytes = b""):
        self.path_only = unquote(urlsplit(self.path).path)
        fault = self.hub.fault if self.hub.fault_at in self.path_only else None
        repo = r"([^/]+/[^/]+)"
        addresses = {
            rf"/api/(models|datasets)/{repo}(?:/revision/([^/]+))?": self.send_info,
            rf"/api/(models|datasets)/{repo}/tree/([^/]+)(?:/(.*))?": self.send_tree,
            rf"/api/(models|datasets)/{repo}/paths-info/([^/]+)": lambda *parts: self.send_paths(*parts, body),
            rf"/(datasets/)?{repo}/resolve/([^/]+)/(.+)": lambda kind, *parts: self.send_file(
                "datasets" if kind else "models", *parts, fault
            ),
        }
        found = [(send, match) for address, send in addresses.items() if (match := re.fullmatch(address, self.path_only))]
        if fault == "slow":
            self.hub.stopping.wait(LONGEST_WAIT)
            self.close_connection = True
        elif fault == "500":
            self.send(500, b'{"error": "Internal Error"}')
        elif found:
            send, match = found[0]
            send(*match.groups())
        else:
            self.not_found("RepoNotFound")

    def find(self, kind: str, name: str, revision: str | None) -> Repo | None:
        repo = self.hub.repos.get((kind, name))
        if repo is None:
            self.not_found("RepoNotFound")
        elif revision not in (None, "main", COMMIT):
            self.not_found("RevisionNotFound")
            repo = None
        return repo

    def listed(self, repo: Repo) -> list[str]:
        hidden = self.hub.fault_at if self.hub.fault == "missing" else None
        return [path for path in repo.files if not (hidden and hidden in path)]

    def send_info(self, kind, name, revision):
        repo = self.find(kind, name, revision)
        if repo is None:
            return
        siblings = []
        for path in self.listed(repo):
            known = repo.describe(path)
            siblings.append({"rfilename": path})
            if "blobs" in parse_qs(urlsplit(self.path).query):
                siblings[-1] |= {"size": known["size"], "blobId": known["oid"]}
                if "lfs" in known:
                    siblings[-1]["lfs"] = {"sha256": known["lfs"]["oid"], "size": known["size"], "pointerSize": 134}
        info = {"id": name, "sha": COMMIT, "private": False, "gated": False, "disabled": False, "tags": [], "downloads": 0, "likes": 0}
        self.send_json({**info, "lastModified": "2024-01-30T07:41:18.000Z", "siblings": siblings})

    def send_tree(self, kind, name, revision, folder):
        repo = self.find(kind, name, revision)
        if repo is None:
            return
        start = f"{folder.strip('/')}/" if folder else ""
        inside = [path for path in self.listed(repo) if path.startswith(start)]
        if not inside:
            self.not_found("EntryNotFound")
            return
        if parse_qs(urlsplit(self.path).query).get("recursive", ["false"])[0].lower() in ("true", "1"):
            shown = inside
        else:
            shown = [path for path in inside if "/" not in path[len(start) :]]
        folders = sorted({path[: path.index("/", len(start))] for path in inside if "/" in path[len(start) :]})
        self.send_json(
            [{"type": "directory", "path": path, "size": 0, "oid": COMMIT} for path in folders] + [repo.describe(path) for path in shown]
        )

    def send_paths(self, kind, name, revision, body):
        repo = self.find(kind, name, revision)
        if repo is None:
            return
        asked = parse_qs(body.decode()).get("paths", [])
        if self.headers.get("Content-Type", "").startswith("application/json"):
            asked = json.loads(body)["paths"]
        files = [repo.describe(path) for path in asked if path in self.listed(repo)]
        folders = [path for path in asked if any(file.startswith(path.rstrip("/") + "/") for file in self.listed(repo))]
        self.send_json(files + [{"type": "directory", "path": path, "size": 0, "oid": COMMIT} for path in folders])

    def send_file(self, kind, name, revision, path, fault):
        repo = self.find(kind, name, revision)
        if repo is None:
            return
        if path not in repo.files or fault in ("missing", "gone"):
            self.not_found("EntryNotFound")
            return
        data, known = repo.files[path], repo.describe(path)
        if fault == "corrupt":
            middle = len(data) // 2
            data = data[:middle] + bytes(byte ^ 0xFF for byte in data[middle : middle + 64]) + data[middle + 64 :]
        headers = {
            "X-Repo-Commit": COMMIT,
            "Accept-Ranges": "bytes",
            "ETag": f'"{known["lfs"]["oid"] if "lfs" in known else known["oid"]}"',
        }
        if "lfs" in known:
            headers |= {"X-Linked-ETag": headers["ETag"], "X-Linked-Size": str(len(data))}
        status = 200
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if wanted:
            first, last = int(wanted[1]), min(int(wanted[2] or len(data) - 1), len(data) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
            data, status = data[first : last + 1], 206
        self.send(status, data, headers, cut=fault == "cut")

    def send_json(self, content):
        self.send(200, json.dumps(content).encode(), {"Content-Type": "application/json", "X-Repo-Commit": COMMIT})

    def not_found(self, code: str):
        self.send(404, b"", {"X-Error-Code": code, "X-Error-Message": "not found", "X-Repo-Commit": COMMIT})

    def send(self, status: int, data: bytes, headers: dict | None = None, cut: bool = False):
        body = b"" if self.command == "HEAD" else data[: len(data) // 2] if cut else data
        self.hub.requests.append((self.command, self.path_only, status, len(body)))
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        if cut and self.command != "HEAD":
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)


def read_mini_mnli(rows_per_split: dict[str, int]) -> dict[str, list[dict]]:
    """The first rows of mini-MNLI's splits."""
    folder = Path(__file__).resolve().parents[1] / "helpers" / "assets" / "mini_mnli"
    rows = {}
    for split, count in rows_per_split.items():
        with open(folder / f"{split}.jsonl", encoding="utf-8") as lines:
            rows[split] = [json.loads(line) for line, _number in zip(lines, range(count), strict=False)]
    return rows


if __name__ == "__main__":
    glue = make_glue(read_mini_mnli({"train": 3_200, "validation_matched": 750, "validation_mismatched": 750}))
    with LoopbackHub(glue, make_distilbert()) as running:
        print(f"export COURSE_ASSETS=hub HF_ENDPOINT={running.url} HF_HOME=$(mktemp -d)", flush=True)
        time.sleep(600)
