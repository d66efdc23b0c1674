"""Knowledge bases to walk: the starter set, a handbook that was not written for Concord, and a real one."""

from __future__ import annotations

import random
from pathlib import Path

from core.bootstrap import App, build
from core.evaluation.generators.known_items import KnownItemSettings
from core.services.reviews.discussion import CommentPlace
from core.settings import load
from core.types import Profile
from tests.conftest import PASSWORD, ROOT, SHARED, HashEmbedder, SmallModels, demo, put

HANDBOOK = SHARED / "markdown"
TITLES = (
    "**Access Control** *policy*",
    "[Onboarding](https://example.org/a?b=c) guide",
    "![badge](https://img.example/b.svg) Build status",
    ":red[Danger] :material/home: $x^2$",
    "# Heading in a heading",
    "🚒 Fire 消防 drill",
    "دليل السلامة",
    "‮Reversed‬ name",
    "A very long title " * 12,
    "Averyveryverylongwordwithoutanyspace" * 4,
    "<b>Bold</b> & <script>window.__pwned=1</script>",
    "`code` | pipe | \\backslash\\",
    "Ends with a colon:",
    "12",
    "\"Quoted\" and 'quoted'",
)
KEYS = (
    "category: [a, b]",
    "nav_order: 3",
    "permalink: /a/b/",
    "redirect_from:\n  - /old",
    "draft: false",
    "hero:\n  image: x.png\n  size: 3",
    "layout: page",
)
FOLDERS = (
    "",
    "people/leave/",
    "engineering/infrastructure/databases/postgres/runbooks/deep/",
    "legal & privacy/",
    "support/日本語/",
    "security/",
)
BODY = (
    "See [the next one](doc{next}.md), [nowhere](missing.md) and https://example.org.\n\n| Step | Who |\n|---|---|\n"
    "| Ask for key {n} | everybody |\n\n- [ ] first\n- [x] second\n\n> A note about key {n}.\n\n```sh\nrun --key "
    "{n}\n```\n"
)


class FastEmbedder(HashEmbedder):
    """Hashed words under the name and the size of the bundled model: where a thing ranks is not what a walk is
    about.
    """

    name, dimension, limit = "bge-small-en-v1.5-int8", 384, 512


class FastModels(SmallModels):
    def __init__(self) -> None:
        super().__init__()
        self.embedder_used = FastEmbedder()

    def of(self, profile: Profile) -> FastEmbedder:
        return FastEmbedder()


def hostile(count: int, seed: int = 7) -> dict[str, str]:
    """Documents with unknown frontmatter, odd titles, no owners and deep folders, half of them without any
    frontmatter.
    """
    chance, files = random.Random(seed), {}
    for n in range(count):
        title = TITLES[n % len(TITLES)].strip()
        front = f"---\n{chance.choice(KEYS)}\nx_{chance.choice('abc')}: {n}\n---\n" if n % 2 else ""
        parts = [
            f"## Part {part} of {n}\n\n{BODY.format(n=n, next=(n + 7) % count)}" for part in range(chance.randint(1, 4))
        ]
        files[f"{chance.choice(FOLDERS)}doc{n}.md"] = f"{front}# {title}\n\nWord{n} of the handbook.\n\n" + "\n".join(
            parts
        )
    return files


def settled(home: Path) -> App:
    """A workspace whose index costs nothing to build, with four people who sign in."""
    cache = home.with_name(f"{home.name}-cache")
    app = build(load({}, home=home, cache=cache), models=FastModels())
    app.platform.workspace.create()
    for role in ("reader", "author", "reviewer", "admin"):
        app.people.accounts.set_password(demo(role), role, PASSWORD)
    return app


def starter(home: Path, count: int = 0) -> App:
    """The starter set, with so many documents of the odd handbook beside it."""
    app = settled(home)
    app.knowledge.documents.import_folder(demo("admin"), ROOT / "kb", "Start with the starter knowledge base")
    return lived_in(app, {f"handbook/{path}": text for path, text in hostile(count).items()})


def odd(home: Path, count: int = 900) -> App:
    return lived_in(settled(home), hostile(count))


def handbook(home: Path) -> App:
    """The real handbooks beside the checkout."""
    app = settled(home)
    app.knowledge.documents.import_folder(demo("admin"), HANDBOOK, "Bring the handbook in")
    return lived_in(app, {})


def lived_in(app: App, files: dict[str, str]) -> App:
    """Documents, a change in review with a comment, one in conflict, a draft, a question nobody answered, and measured
    questions.
    """
    if files:
        put(app, dict(files), "Bring an odd handbook in")
    in_review(app)
    author, changes = demo("author"), app.reviews.changes
    _, second, third = app.knowledge.documents.all()[:3]
    clash = changes.propose(
        author, "An **odd** [title](https://example.org)", {second.path: f"{second.text}\nTheirs.\n".encode()}
    )
    changes.submit(author, clash.id)
    put(app, {second.path: f"{second.text}\nOurs.\n"}, "Say it otherwise")
    changes.propose(author, "A draft", {third.path: None})
    app.knowledge.gaps.report(
        demo("reader"), "where is the **guest** wifi?", "a password", 0, app.knowledge.repository.head()
    )
    app.index.builder.build(app.platform.settings.profile())
    app.evaluation.generator.known_items(demo("admin"), KnownItemSettings(per_category=3))
    for base in ("bm25", "dense"):
        plan = app.evaluation.runs.plan("", f'{{"base": "{base}", "depth": 20}}')
        app.evaluation.runs.evaluate("known-items", [plan])
    return app


def in_review(app: App) -> None:
    """A change of the first document, with a comment."""
    author, first = demo("author"), app.knowledge.documents.all()[0]
    text = f"{first.text}\nOne more line.\n".encode()
    change = app.reviews.changes.propose(author, "Say more", {first.path: text}, "Because.")
    app.reviews.changes.submit(author, change.id)
    app.reviews.discussion.comment(demo("reviewer"), change.id, "Which line?", CommentPlace(first.path, 2))


BASES = {"starter": starter, "odd": odd, "handbook": handbook}
