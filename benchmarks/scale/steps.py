"""The steps of one size, each a process that is watched: seconds, CPU seconds, memory, disk."""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.build.watch import Memory, Watched, disk_size, watch
from benchmarks.scale.shards import Shards
from benchmarks.scale.start import first_answers
from wikilda.training.checkpoints import read_metrics

_PARAMETERS = ("mentions", "words", "mention parameters", "word parameters", "links between topics")
Row = dict[str, float]


@dataclass(frozen=True)
class Plan:
    """What is done at every size; the same for all, so that they can be compared."""

    linked: int = 500  # documents to link
    trained: int = 5000  # documents to train on, in as many shards of 1,000
    memory: str = "1GB"
    workers: int = 2
    cold: bool = False


class Steps:
    """Runs the steps of one size in a directory of its own, and collects what was seen."""

    def __init__(self, topics: int, directory: Path, plan: Plan) -> None:
        self.topics, self.place, self.plan = topics, directory / str(topics), plan
        self.row: Row = {"topics": topics}
        self.place.mkdir(parents=True, exist_ok=True)

    def run(self, *, train: bool) -> Row:
        """All steps in order; what an earlier run has generated is taken as it is."""
        self.generate()
        self.build()
        self.start()
        self.link()
        if train:
            self.train()
        self.row["disk of all, MB"] = disk_size(self.place)
        return self.row

    def generate(self) -> None:
        """Tables, documents to link and others to train on."""
        note = self.place / "generated.json"
        if not note.is_file():
            tables, size = self.place / "tables", ["--paper", "--topics", str(self.topics)]
            generate = ["-m", "benchmarks.generate"]
            seen = self._watch("generate", *generate, "tables", *size, "-o", str(tables))
            self.row["generate: disk MB"] = disk_size(tables)
            linked, trained = self.place / "linked.jsonl", self.place / "trained.jsonl"
            self._python(*generate, "documents", *size, "--count", str(self.plan.linked), "-o", str(linked))
            more = ["--first", "100000", "--count", str(self.plan.trained)]
            self._python(*generate, "documents", *size, *more, "-o", str(trained))
            note.write_text(json.dumps({"output": seen.output, "row": self.row}, indent=1))
        self.row |= json.loads(note.read_text())["row"]

    def build(self) -> None:
        """A model from the tables; one more at t = 0 from its knowledge; its weights."""
        kb, model, tables = (str(self.place / name) for name in ("kb", "model", "tables"))
        wikilda = ["-m", "wikilda"]
        resources = ["--workers", str(self.plan.workers), "--memory", self.plan.memory]
        seen = self._watch("build", *wikilda, "build", "--tables", tables, "-o", kb, "--overwrite", *resources)
        self.row["build: disk at the peak MB"] = max(seen.disk.values())
        knowledge = Path(kb) / "knowledge"
        self.row["knowledge MB"] = disk_size(knowledge)
        summary = json.loads((knowledge / "manifest.json").read_text())["summary"]
        self.row |= {name: summary[name] for name in _PARAMETERS}
        self._watch("init", *wikilda, "init", kb, "-o", model, "--overwrite")
        prepare = f"from wikilda.lda import prepare; from wikilda.model import Model; prepare(Model.open({model!r}))"
        self._watch("weights", "-c", prepare)
        self.row["model with weights MB"] = disk_size(Path(model))

    def start(self) -> None:
        """Processes that link one document."""
        one = self.place / "one.jsonl"
        one.write_text((self.place / "linked.jsonl").read_text("utf-8").splitlines()[0] + "\n", "utf-8")
        self.row |= first_answers(self.place / "model", one, cold=self.plan.cold)

    def link(self) -> None:
        """Open the model, link documents, compare with the truth."""
        arguments = [str(self.place / "model"), str(self.place / "linked.jsonl")]
        seen = self._watch("link", "-m", "benchmarks.scale.linking", *arguments)
        self.row |= json.loads(seen.output.splitlines()[-1])

    def train(self) -> None:
        """Encode documents and train on them once."""
        kb, model, corpus, trained = (str(self.place / name) for name in ("kb", "model", "corpus", "trained"))
        workers = ["--workers", str(self.plan.workers)]
        documents = str(self.place / "trained.jsonl")
        self._watch("corpus", "-m", "wikilda", "corpus", kb, documents, "-o", corpus, "--overwrite", *workers)
        shards = Shards(self.place / "trained.training")
        shutil.rmtree(shards.place, ignore_errors=True)
        more = ["--overwrite", "--set", "evaluated=0", "--set", "held_out=0", *workers]
        command = ["-m", "wikilda", "train", model, corpus, "-o", trained, *more]
        self._watch("train", *command, phase=shards.look)
        found = read_metrics(Path(trained))[-1]
        joins = found.joining_seconds + found.merging_seconds
        self.row |= {
            "train: documents": found.documents, "train: tokens": found.tokens, "train: iteration s": found.seconds,
            "train: sampling CPU s": found.sampling_seconds, "train: joining CPU s": found.joining_seconds,
            "train: merging CPU s": found.merging_seconds, "train: documents/s": found.documents / found.seconds,
            "train: sampling CPU ms a document": 1000 * found.sampling_seconds / max(found.documents, 1),
            "train: joins beside sampling %": 100 * joins / found.sampling_seconds, **shards.figures(),
        }  # fmt: skip
        seen = self._python("-m", "benchmarks.scale.linking", trained, str(self.place / "linked.jsonl"), "accuracy")
        shares = json.loads(seen.output.splitlines()[-1]).items()
        self.row |= {f"trained, {name}": share for name, share in shares if name.startswith("accuracy")}
        shutil.rmtree(trained)

    def _watch(self, name: str, *arguments: str, phase: Callable[[], str] = str) -> Watched:
        seen = self._python(*arguments, phase=phase)
        memory = asdict(seen.memory.get("", Memory()))
        self.row |= {
            f"{name} s": sum(seen.seconds.values()), f"{name} CPU s": seen.cpu[""],
            f"{name}: anonymous MB": memory["sum_anonymous"], f"{name}: resident MB": memory["sum_resident"],
        }  # fmt: skip
        if memory["child_anonymous"]:
            self.row |= {
                f"{name}: parent, anonymous MB": memory["parent_anonymous"],
                f"{name}: largest worker, anonymous MB": memory["child_anonymous"],
                f"{name}: largest worker, resident MB": memory["child_resident"],
            }
        (self.place / "row.json").write_text(json.dumps(self.row, indent=1))  # so far
        print(f"{self.topics:,} topics, {name}: {self.row[f'{name} s']:.1f} s", file=sys.stderr, flush=True)
        return seen

    def _python(self, *arguments: str, phase: Callable[[], str] = str) -> Watched:
        return watch([sys.executable, *arguments], self.place, phase)
