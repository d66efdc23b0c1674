// A document, rendered, with its outline. A search hit is marked and scrolled to.
const MARKABLE = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "pre", "tr", "span"]);
const OUTLINE_ENTRIES = 300;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const partHref = (doc, anchor) => documentHref(anchor ? { doc, anchor } : { doc });
  const heading = (slug) => root.querySelector(`#h-${CSS.escape(slug)}`);
  const jump = (slug) => {
    const target = heading(slug);
    if (target) target.scrollIntoView({ behavior: "smooth", block: "start" });
    else if (data.first || data.hidden) visit(partHref(data.doc, slug)); // the heading is in a part that is not shown
  };
  const documentLink = ({ doc, anchor }, children) => {
    const href = partHref(doc, anchor);
    return doc === data.path
      ? actionLink({}, href, () => jump(anchor), children)
      : inside({ title: doc }, href, children);
  };
  const decorate = (element, tag, position) => {
    if (isMarked(tag, position, data.mark)) element.classList.add("marked");
    if (position.id) element.append(sectionLink(partHref(data.doc, position.id), element.textContent));
  };
  const more = (count, label, from) =>
    el(
      "div.whole",
      button(`Show ${count.toLocaleString()} ${label}`, () => setTriggerValue("more", { from }), { kind: "outline" }),
    );

  const body = el(
    "div.prose.body",
    data.first ? more(data.first, "earlier blocks", Math.max(0, data.first - data.step)) : null,
    data.nodes.map((node) => drawNode(node, documentLink, decorate)),
    data.hidden ? more(data.hidden, "more blocks", data.first + data.nodes.length) : null,
  );
  root.replaceChildren(el("div.layout", body, drawOutline(data.outline, jump)));

  const state = memory(root, () => ({ shown: "" }));
  const place = JSON.stringify([data.path, data.version, data.first, data.mark, data.anchor]);
  if (state.shown === place) return;
  const turned = state.shown && state.first !== data.first;
  Object.assign(state, { shown: place, first: data.first });
  const marked = root.querySelector(".marked");
  setTimeout(() => {
    if (marked) marked.scrollIntoView({ block: "center" });
    else if (heading(data.anchor)) jump(data.anchor);
    else if (turned) root.scrollIntoView();
  }, 60);
}

// Copies the address of a section.
function sectionLink(href, title) {
  const link = new URL(href, window.location.origin).href;
  const symbol = button("#", (event) => copy(link, event.currentTarget), { kind: "section", title: "Copy link" });
  symbol.setAttribute("aria-label", `Copy link to “${title}”`);
  return symbol;
}

// A list item counts only when the mark covers all of it: a long list would light up as a whole.
function isMarked(tag, { start, end }, mark) {
  if (!mark || !MARKABLE.has(tag) || start === undefined) return false;
  const overlaps = start < mark.end && end > mark.start;
  const covered = start >= mark.start - 1 && end <= mark.end + 2;
  return overlaps && (tag !== "li" || covered);
}

function drawOutline(outline, jump) {
  const entries = outline.filter(({ level }) => level > 1 && level < 4).slice(0, OUTLINE_ENTRIES);
  return el(
    "nav.outline",
    { "aria-label": "Outline" },
    entries.length ? el("h2", "On this page") : null,
    entries.map(({ slug, level, title }) => actionLink({ class: `l${level}` }, `#${slug}`, () => jump(slug), title)),
  );
}
