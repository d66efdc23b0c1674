// Rendered Markdown from harmless nodes. Whoever draws says what a link to a document does, and may look at each element.
const DRAWN = new Set([
  "p",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "ul",
  "ol",
  "li",
  "blockquote",
  "pre",
  "code",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
  "em",
  "strong",
  "s",
  "br",
  "hr",
  "span",
]);

function drawNode(node, link, touch = () => {}) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, at, children] = node;
  const inner = () => children.map((child) => drawNode(child, link, touch));
  if (tag === "a")
    return at.href
      ? el("a", { href: at.href, target: "_blank", rel: "noopener noreferrer nofollow" }, inner())
      : link(at, inner());
  if (at.image !== undefined) return el("span", { class: "image", title: "Images are not loaded" }, "▧ ", at.image);
  if (at.refused !== undefined)
    return el("span", { class: "refused", title: "This link leads to no document and no web address" }, inner());
  const known = DRAWN.has(tag) ? tag : "span";
  const made = el(known, { id: at.id ? `h-${at.id}` : undefined, start: at.first }, inner());
  if (at.align) made.style.textAlign = at.align === "right" ? "right" : at.align === "center" ? "center" : "left";
  touch(made, known, at);
  if (known === "pre")
    return el(
      "div",
      { class: "block" },
      made,
      button("Copy", (event) => copy(made.textContent, event.target)),
    );
  if (known === "table") return el("div", { class: "scroll" }, made);
  return made;
}

// A quiet piece of prose; its links to documents open in a new tab, so that what was typed here stays.
const prose = (nodes) =>
  el(
    "div",
    { class: "prose" },
    nodes.map((node) =>
      drawNode(node, (at, inner) =>
        el("a", { href: `/documents?doc=${encodeURIComponent(at.doc)}`, target: "_blank", rel: "noopener" }, inner),
      ),
    ),
  );
