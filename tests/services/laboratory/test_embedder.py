"""The embedder of `tune learn`: lessons from half of the questions, a profile with its index, a verdict on the other
half.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.adapters.models.finetune import LocalTrainer
from core.bootstrap import App, build
from core.errors import BadInput, Refused, Unavailable
from core.evaluation.learning.triplets import FineTuning, Lesson
from core.evaluation.querysets.queryset import for_choosing
from core.ports import Progress
from core.settings import load
from core.types import Profile
from tests.adapters.test_hub import tiny
from tests.conftest import demo
from tests.support.evaluated import ADMIN, evaluated, questions


class NotingTrainer:
    """A trainer that notes its lessons and trains nothing."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lessons: Sequence[Lesson] = ()
        self.texts: list[str] = []

    def names(self) -> tuple[str, ...]:
        return ("taken",)

    def base(self, embedder: str) -> str:
        return embedder

    def train(
        self,
        base: str,
        name: str,
        lessons: Sequence[Lesson],
        text: Callable[[int], str],
        settings: FineTuning,
        progress: Progress,
    ) -> dict[str, Any]:
        self.lessons, self.texts = lessons, [text(chunk) for lesson in lessons for chunk in lesson.relevant]
        return {"device": "cpu", "batch": 8, "steps": 2, "seconds": 1.0, "losses": [2.0, 1.0]}

    def describe(self, name: str, card: str) -> Path:
        (self.root / f"{name}.json").write_text(card, encoding="utf-8")
        return self.root / f"{name}.json"


@pytest.fixture
def judged_app(app: App, tmp_path: Path) -> App:
    evaluated(app)
    app.evaluation.querysets.keep(ADMIN, questions(each=3, name="wide"))
    app.tuning.embedders.trainer = NotingTrainer(tmp_path)
    return app


def test_an_embedder_learns_from_one_half_and_is_judged_on_the_other(judged_app: App) -> None:
    made = judged_app.tuning.embedders.train(ADMIN, ["wide"])
    trainer = judged_app.tuning.embedders.trainer
    assert isinstance(trainer, NotingTrainer)
    index = judged_app.search.searcher.index()
    taught = {lesson.question.removeprefix("wide ") for lesson in trainer.lessons}
    asked = {one.id: one.text for one in judged_app.evaluation.querysets.get("wide").questions}
    assert all(for_choosing(asked[question]) for question in taught)
    assert not taught & {row.question for row in made.compared[0].rows}
    for lesson in trainer.lessons:
        right = {index.document_of(chunk) for chunk in lesson.relevant}
        assert lesson.pool
        assert not right & {index.document_of(chunk) for chunk in lesson.pool}
    assert all("key" in text for text in trainer.texts)
    assert (made.profile.name, made.profile.embedder) == ("wide-embedder", "tuned:wide-embedder")
    assert judged_app.platform.settings.production().profile.name == "local", "nothing uses it yet"
    card = json.loads((trainer.root / f"{made.name}.json").read_text(encoding="utf-8"))
    assert (card["base"], card["querysets"], card["learned_from"]) == ("bge-small-en-v1.5-int8", ["wide"], len(taught))
    assert card["commit"] == index.generation.commit
    assert made.apart is None or made.apart.queries < made.compared[0].overall.queries
    assert not made.wins, "the same vectors cannot be better"
    assert made.advice.startswith("Keep production: the trained embedder is not shown to be better")
    run = made.compared[0].after.id
    judged_app.tuning.production.promote(ADMIN, run, reason="to see it serve")
    assert judged_app.platform.settings.production().profile.name == "wide-embedder"


def test_a_training_that_cannot_be_is_refused_with_what_is_needed(judged_app: App) -> None:
    train = judged_app.tuning.embedders.train
    with pytest.raises(BadInput, match="needs at least 40 judged questions to learn from and 30 that it has not seen"):
        train(ADMIN, ["small"])
    with pytest.raises(Refused):
        train(demo("author"), ["wide"])
    two = judged_app.platform.settings.profile()
    with pytest.raises(BadInput, match="has several embedders"):
        judged_app.tuning.embedders._base(replace(two, embedders=("potion-base-8m",)))


def test_only_a_model_on_this_machine_can_be_trained(tmp_path: Path) -> None:
    trainer = LocalTrainer(tmp_path / "home" / "embedders", tmp_path / "models", tmp_path / "torch")
    with pytest.raises(BadInput, match="answers from elsewhere"):
        trainer.base("openai:text-embedding-3-small")
    with pytest.raises(BadInput, match="static vectors"):
        trainer.base("potion-base-8m")
    with pytest.raises(Unavailable, match="bge-small-en-v1.5-int8. is not on this machine. Fetch the model"):
        trainer.base("bge-small-en-v1.5-int8")
    assert trainer.base("tuned:mine") == str(tmp_path / "home" / "embedders" / "mine")
    assert trainer.base("owner/model") == "owner/model"


@pytest.mark.slow
def test_a_real_training_of_a_tiny_model_becomes_a_profile_that_answers(tmp_path: Path) -> None:
    app = build(load({}, home=tmp_path / "home", device="cpu"))
    app.platform.workspace.create()
    small = app.index.admin.add_profile(ADMIN, Profile("tiny", embedder=tiny(tmp_path / "base"), graph="none"))
    app.tuning.production.promote(ADMIN, profile="tiny", reason="Start tiny.")
    evaluated(app)
    app.index.builder.build(small)
    app.evaluation.querysets.keep(ADMIN, questions(each=3, name="wide"))
    made = app.tuning.embedders.train(ADMIN, ["wide"], settings=FineTuning(epochs=1, tokens=16))
    assert made.facts["steps"] > 4
    assert made.facts["device"] == "cpu"
    folder = tmp_path / "home" / "models" / "embedders" / "wide-embedder"
    assert {"model.safetensors", "card.json", "modules.json"} <= {path.name for path in folder.iterdir()}
    assert app.search.searcher.search("key3first", profile="wide-embedder").hits
    assert made.compared[0].overall.queries >= 30
