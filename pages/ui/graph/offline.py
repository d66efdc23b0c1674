"""A drawing as one HTML file that opens without a server: pyvis writes its network into a page that loads nothing."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pages.ui.components import source
from pages.ui.graph.network import bundle

_DRAW = """
draw({
  data: JSON.parse(document.querySelector("#drawing").textContent),
  parentElement: document.body,
  setTriggerValue() {},
});
"""


def as_html(title: str, drawing: Mapping[str, Any]) -> str:
    """The file. Its policy names the digests of its two scripts, so that no other runs, whatever a title holds."""
    from pyvis.network import Network

    network = Network(directed=True, heading=title)  # pyvis compares every new edge with all others unless directed
    for node in drawing["nodes"]:
        network.add_node(node["id"], **node)
    for edge in drawing["edges"]:
        style = {name: edge[name] for name in ("width", "arrows", "dashes")}
        network.add_edge(edge["from"], edge["to"], **style)
    network.set_template_dir(str(Path(__file__).parent), "offline.html")
    own = source("js", "dom", "network").replace("export default function", "function draw")
    scripts = [bundle(), own + _DRAW]
    about = {node: {**facts, "centre": False} for node, facts in drawing["about"].items()}
    network.templateEnv.globals.update(
        drawing={**drawing, "about": about, "offline": True},
        scripts=scripts,
        hashes=" ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts),
        style=source("css", "base", "network"),
    )
    return str(network.generate_html())
