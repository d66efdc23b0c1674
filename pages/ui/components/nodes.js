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
  if (tag === "img") return picture(attributes.src, attributes.alt);
  if (attributes.image !== undefined) return foreignPicture(attributes);
  if (attributes.mention !== undefined) return el("span.mention", children());
  if (attributes.refused !== undefined)
    return el("span.refused", { title: "This link leads to no document and no web address" }, children());
  const safeTag = RENDERED_TAGS.has(tag) ? tag : "span";
  const id = attributes.id ? `h-${attributes.id}` : undefined;
  const element = el(safeTag, { id, start: attributes.first }, children());
  if (attributes.align)
    element.style.textAlign = ["right", "center"].includes(attributes.align) ? attributes.align : "left";
  decorate(element, safeTag, attributes);
  return framed(element, safeTag);
}

// A picture of the knowledge base; it opens large on a click. Without an address it is missing, and its words stand for it.
// In a demo the address names who looks.
const PICTURE_ADDRESS = /^(\/[\w.~-]+)*\/pictures\/[0-9a-f]{40}\/[^/?#]+(\?as=[\w%.~-]+)?$/;

function picture(src, alt) {
  if (!PICTURE_ADDRESS.test(src || "")) return missingPicture(alt, "picture is missing");
  const image = el("img.shown");
  image.loading = "lazy";
  image.decoding = "async";
  image.alt = alt || "";
  image.src = src;
  const label = alt ? `Show larger: ${alt}` : "Show the picture larger";
  const opener = el("button.picture", { "aria-label": label, title: alt || undefined }, image);
  opener.addEventListener("click", () => enlarge(src, alt, opener));
  image.addEventListener("error", () => opener.replaceWith(missingPicture(alt, "picture cannot be shown")));
  return opener;
}

const missingPicture = (alt, why) => el("span.image.missing", "▧ ", alt ? `${alt} ` : "", el("em", `(${why})`));

const foreignPicture = ({ image, elsewhere }) =>
  el(
    "span.image",
    { title: "Pictures of other sites are not loaded" },
    "▧ ",
    elsewhere ? webLink(elsewhere, [image]) : image,
    el("em", elsewhere ? " (on another site)" : " (not shown)"),
  );

function enlarge(src, alt, opener) {
  const image = el("img");
  image.alt = alt || "";
  image.src = src;
  const close = button("Close", () => dialog.close());
  const dialog = el("dialog.large", { "aria-label": alt || "Picture" }, image, el("p", alt || ""), close);
  dialog.addEventListener("click", (event) => {
    if (event.target !== close) dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  opener.after(dialog);
  dialog.showModal();
}

const webLink = (href, children) => el("a", { href, target: "_blank", rel: "noopener noreferrer nofollow" }, children);

// Code gets a copy button; a wide table scrolls by itself.
function framed(element, tag) {
  if (tag === "table") return el("div.scroll", element);
  if (tag !== "pre") return element;
  const copyButton = button("Copy", (event) => copy(element.textContent, event.target));
  return el("div.block", element, copyButton);
}

// A piece of prose. Its links open in a new tab, so that nothing typed on this page is lost.
const prose = (nodes) => el("div.prose", ...nodes.map((node) => drawNode(node, newTabLink)));

const newTabLink = ({ doc }, children) =>
  el("a", { href: documentHref({ doc }), target: "_blank", rel: "noopener" }, children);
