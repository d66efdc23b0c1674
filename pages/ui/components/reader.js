const DRAWN = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "em", "strong", "s", "br", "hr", "span"]);
const MARKABLE = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "pre", "tr", "span"]);

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const past = memory(root, () => ({ shown: "" }));
  const mark = data.mark;
  const inMark = (at) => mark && at.start !== undefined && at.start < mark.end && at.end > mark.start;
  const wholly = (at) => at.start >= mark.start - 1 && at.end <= mark.end + 2;

  const draw = (node) => {
    if (typeof node === "string") return document.createTextNode(node);
    const [tag, at, children] = node;
    if (tag === "a") return link(at, children);
    if (at.image !== undefined) return el("span", { class: "image", title: "Images are not loaded" }, "▧ ", at.image);
    if (at.refused !== undefined) return el("span", { class: "refused", title: "This link leads to no document and no web address" }, children.map(draw));
    const known = DRAWN.has(tag) ? tag : "span";
    const made = el(known, { id: at.id ? `h-${at.id}` : undefined, start: at.first }, children.map(draw));
    if (at.align) made.style.textAlign = at.align === "right" ? "right" : at.align === "center" ? "center" : "left";
    if (MARKABLE.has(known) && inMark(at) && (known !== "li" || wholly(at))) made.classList.add("marked");
    if (known === "pre") return el("div", { class: "block" }, made, button("Copy", (event) => copy(made.textContent, event.target)));
    if (known === "table") return el("div", { class: "scroll" }, made);
    return made;
  };

  const link = (at, children) => {
    if (at.href) return el("a", { href: at.href, target: "_blank", rel: "noopener noreferrer nofollow" }, children.map(draw));
    const here = at.doc === data.path;
    const go = () => (here ? jump(at.anchor) : setTriggerValue("open", { doc: at.doc, anchor: at.anchor || "" }));
    return inside({ title: here ? "" : at.doc }, `/documents?doc=${encodeURIComponent(at.doc)}`, go, children.map(draw));
  };

  const jump = (slug) => { const target = root.querySelector(`#h-${CSS.escape(slug)}`); if (target) target.scrollIntoView({ behavior: "smooth", block: "start" }); };
  const body = el("div", { class: "body" }, data.nodes.map(draw));
  if (data.hidden) body.append(el("div", { class: "whole" }, button(`Show ${data.hidden.toLocaleString()} more blocks`, () => setTriggerValue("more", Date.now()), { kind: "outline" })));
  const lines = data.outline.filter((line) => line.level > 1 && line.level < 4).slice(0, 300);
  const outline = el("nav", { class: "outline", "aria-label": "Outline" }, lines.length ? el("h4", {}, "On this page") : null,
    lines.map((line) => el("a", { href: `#${line.slug}`, class: `l${line.level}`, onclick: (event) => { event.preventDefault(); jump(line.slug); } }, line.title)));
  root.replaceChildren(el("div", { class: "layout" }, body, outline));

  const place = JSON.stringify([data.path, data.version, mark, data.anchor]);
  if (past.shown !== place) {
    past.shown = place;
    const first = root.querySelector(".marked");
    setTimeout(() => { if (first) first.scrollIntoView({ block: "center" }); else if (data.anchor) jump(data.anchor); }, 60);
  }
}
