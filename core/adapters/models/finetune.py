"""Fine-tuning of a sentence-transformers model on triplets, on whatever torch finds here.

The loss is that of MultipleNegativesRankingLoss (Henderson et al. 2017): a question must be nearer to its passage than
to its hard negatives and to all other passages of the batch; those that also answer it do not count. The loop is plain
torch, so that it needs no further packages, says after its first step how long it will take, and can be stopped after
every step.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.adapters.models.weights import BUNDLED
from core.adapters.system.files import write_atomic
from core.adapters.web.endpoints import is_remote
from core.errors import BadInput
from core.evaluation.learning import triplets as lessons_of
from core.evaluation.learning.triplets import TUNED, FineTuning, Lesson, Triplet
from core.ports import Progress, no_progress

if TYPE_CHECKING:
    import torch

BATCHES: Mapping[str, int] = {"cpu": 8, "mps": 16}  # questions; each brings its passage and its negatives
MANY = 32


class FineTuner:
    """Trains one model; `save` writes it as safetensors."""

    def __init__(self, base: str, settings: FineTuning, offline: bool = True, wanted: str = "") -> None:
        from core.adapters.models.hub import load

        self.model = load("SentenceTransformer", base, offline, wanted)
        self.settings = settings
        self.device = self.model.device.type
        self.batch = settings.batch or BATCHES.get(self.device, MANY)
        self.prompts = {role: (self.model.prompts or {}).get(role) or "" for role in ("query", "document")}

    def train(
        self, lessons: Sequence[Lesson], text: Callable[[int], str], progress: Progress = no_progress
    ) -> list[float]:
        """The loss of every step. Progress names the time that is left once a step was measured."""
        import torch

        torch.manual_seed(self.settings.seed)
        total = lessons_of.steps(len(lessons), self.batch, self.settings.epochs)
        optimizer, schedule = self._optimizer(total)
        losses: list[float] = []
        self.model.train()
        progress(0, total, f"Training on {self.device}: the first step is measured")
        began = time.monotonic()
        for number in range(self.settings.epochs):
            for batch in lessons_of.batches(lessons_of.epoch(lessons, self.settings, number), self.batch):
                loss = self._loss(batch, text)
                optimizer.zero_grad()
                torch.autograd.backward(loss)
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                losses.append(float(loss.detach()))
                left = (time.monotonic() - began) / len(losses) * (total - len(losses))
                progress(len(losses), total, f"Training on {self.device}: {duration(left)} left")
        self.model.eval()
        return losses

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(str(folder), create_model_card=False, safe_serialization=True)

    def _optimizer(self, total: int) -> tuple[Any, Any]:
        """AdamW with a linear warm-up and a linear way down to nothing."""
        import torch

        rising = max(1, round(total * self.settings.warmup))
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.settings.rate, weight_decay=0.01)

        def slope(step: int) -> float:
            return (step + 1) / rising if step < rising else max(0.0, (total - step) / max(1, total - rising))

        return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, slope)

    def _loss(self, batch: Sequence[Triplet], text: Callable[[int], str]) -> torch.Tensor:
        import torch

        passages = list(dict.fromkeys(chunk for each in batch for chunk in (each.positive, *each.negatives)))
        at = {chunk: n for n, chunk in enumerate(passages)}
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            asked = self._encoded([self.prompts["query"] + each.text for each in batch])
            read = self._encoded([self.prompts["document"] + text(chunk) for chunk in passages])
        scores = asked.float() @ read.float().T / self.settings.temperature
        also = [[chunk in each.relevant and chunk != each.positive for chunk in passages] for each in batch]
        scores = scores.masked_fill(torch.tensor(also, device=scores.device), -torch.inf)
        return torch.nn.functional.cross_entropy(
            scores, torch.tensor([at[each.positive] for each in batch], device=scores.device)
        )

    def _encoded(self, texts: list[str]) -> torch.Tensor:
        import torch

        features = self.model.tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=min(self.settings.tokens, int(self.model.max_seq_length or 512)),
            return_tensors="pt",
        ).to(self.model.device)
        vectors: torch.Tensor = self.model(dict(features))["sentence_embedding"]
        return torch.nn.functional.normalize(vectors, dim=-1)


class LocalTrainer:
    """Trains embedders on this machine; each is a folder of safetensors under the workspace's models."""

    def __init__(
        self,
        root: Path,
        models: Path,
        cache: Path,
        offline: bool = True,
        wanted: str = "",
        saved: Callable[[], object] = lambda: None,
    ) -> None:
        """`cache`: where torch weights of bundled models lie once they were made. `saved` is called when a model is
        complete.
        """
        self.root = root
        self.models = models
        self.cache = cache
        self.offline = offline
        self.wanted = wanted
        self._saved = saved

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(path.parent.name for path in self.root.glob("*/modules.json")))

    def base(self, embedder: str) -> str:
        """What sentence-transformers starts from; weights of a bundled transformer are turned into torch's once."""
        if is_remote(embedder):
            raise BadInput(
                f"{embedder!r} answers from elsewhere and cannot be trained. Use a profile with a model on this "
                "machine."
            )
        if embedder.startswith(TUNED):
            return str(self.root / embedder.removeprefix(TUNED))
        weights = next((weights for weights in BUNDLED if weights.name == embedder), None)
        if weights is None:
            return embedder
        if weights.kind != "embedder":
            raise BadInput(
                f"{embedder!r} has static vectors and cannot be trained. Use bge-small-en-v1.5-int8, or a model of a "
                "hub."
            )
        from core.adapters.models.torch_weights import torch_folder

        return str(torch_folder(weights, self.models, self.cache / embedder))

    def train(
        self,
        base: str,
        name: str,
        lessons: Sequence[Lesson],
        text: Callable[[int], str],
        settings: FineTuning,
        progress: Progress = no_progress,
    ) -> dict[str, Any]:
        """Train and save; what is stopped leaves nothing behind."""
        began = time.monotonic()
        tuner = FineTuner(base, settings, self.offline, self.wanted)
        losses = tuner.train(lessons, text, progress)
        fresh = self.root / f"{name}.part"
        shutil.rmtree(fresh, ignore_errors=True)
        tuner.save(fresh)
        fresh.rename(self.root / name)
        seconds = round(time.monotonic() - began, 1)
        return {
            "device": tuner.device,
            "batch": tuner.batch,
            "steps": len(losses),
            "seconds": seconds,
            "losses": losses,
        }

    def describe(self, name: str, card: str) -> Path:
        """Put a card beside the weights."""
        write_atomic(self.root / name / "card.json", card)
        self._saved()
        return self.root / name


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(40), duration(3000), duration(9000)
    ('less than a minute', 'about 50 minutes', 'about 2.5 hours')
    """
    if seconds < 60:
        return "less than a minute"
    return f"about {round(seconds / 60)} minutes" if seconds < 5400 else f"about {seconds / 3600:.1f} hours"
