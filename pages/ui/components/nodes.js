// Markdown, rendered from checked nodes [tag, attributes, children]. The caller decides what a link to a document does,
// and may decorate each element.
// prettier-ignore
const RENDERED_TAGS = new Set([
  "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code",
  "table", "thead", "tbody", "tr", "th", "td", "em", "strong", "s", "br", "hr", "span",
]);

function drawNode(node, documentLink, decorate = () => {}) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, childNodes] = node;
  const children = () => childNodes.map((child) => drawNode(child, documentLink, decorate));
  if (tag === "a") return attributes.href ? webLink(attributes.href, children()) : documentLink(attributes, children());
  if (attributes.image !== undefined)
    return el("span", { class: "image", title: "Images are not loaded" }, "▧ ", attributes.image);
  if (attributes.mention !== undefined) return el("span", { class: "mention" }, children());
  if (attributes.refused !== undefined)
    return el("span", { class: "refused", title: "This link leads to no document and no web address" }, children());
  const safeTag = RENDERED_TAGS.has(tag) ? tag : "span";
  const id = attributes.id ? `h-${attributes.id}` : undefined;
  const element = el(safeTag, { id, start: attributes.first }, children());
  if (attributes.align)
    element.style.textAlign = ["right", "center"].includes(attributes.align) ? attributes.align : "left";
  decorate(element, safeTag, attributes);
  return framed(element, safeTag);
}

const webLink = (href, children) => el("a", { href, target: "_blank", rel: "noopener noreferrer nofollow" }, children);

// Code gets a copy button; a wide table scrolls by itself.
function framed(element, tag) {
  if (tag === "table") return el("div", { class: "scroll" }, element);
  if (tag !== "pre") return element;
  const copyButton = button("Copy", (event) => copy(element.textContent, event.target));
  return el("div", { class: "block" }, element, copyButton);
}

// A piece of prose. Its links open in a new tab, so that nothing typed on this page is lost.
const prose = (nodes) =>
  el(
    "div",
    { class: "prose" },
    nodes.map((node) => drawNode(node, newTabLink)),
  );

const newTabLink = ({ doc }, children) =>
  el("a", { href: documentHref({ doc }), target: "_blank", rel: "noopener" }, children);
