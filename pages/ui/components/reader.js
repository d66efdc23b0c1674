const MARKABLE = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "pre", "tr", "span"]);

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const past = memory(root, () => ({ shown: "" }));
  const mark = data.mark;
  const inMark = (at) => mark && at.start !== undefined && at.start < mark.end && at.end > mark.start;
  const wholly = (at) => at.start >= mark.start - 1 && at.end <= mark.end + 2;

  const touch = (made, known, at) => {
    if (MARKABLE.has(known) && inMark(at) && (known !== "li" || wholly(at))) made.classList.add("marked");
  };
  const draw = (node) => drawNode(node, link, touch);
  const link = (at, inner) => {
    const here = at.doc === data.path;
    const go = () => (here ? jump(at.anchor) : setTriggerValue("open", { doc: at.doc, anchor: at.anchor || "" }));
    return inside({ title: here ? "" : at.doc }, `/documents?doc=${encodeURIComponent(at.doc)}`, go, inner);
  };

  const jump = (slug) => {
    const target = root.querySelector(`#h-${CSS.escape(slug)}`);
    if (target) target.scrollIntoView({ behavior: "smooth", block: "start" });
    else if (data.first || data.hidden) setTriggerValue("open", { doc: data.doc, anchor: slug });
  };
  const body = el("div", { class: "body" }, data.nodes.map(draw));
  const more = (count, words, from) =>
    el(
      "div",
      { class: "whole" },
      button(`Show ${count.toLocaleString()} ${words}`, () => setTriggerValue("more", { from }), { kind: "outline" }),
    );
  if (data.first) body.prepend(more(data.first, "earlier blocks", Math.max(0, data.first - data.step)));
  if (data.hidden) body.append(more(data.hidden, "more blocks", data.first + data.nodes.length));
  const lines = data.outline.filter((line) => line.level > 1 && line.level < 4).slice(0, 300);
  const outline = el(
    "nav",
    { class: "outline", "aria-label": "Outline" },
    lines.length ? el("h4", {}, "On this page") : null,
    lines.map((line) =>
      el(
        "a",
        {
          href: `#${line.slug}`,
          class: `l${line.level}`,
          onclick: (event) => {
            event.preventDefault();
            jump(line.slug);
          },
        },
        line.title,
      ),
    ),
  );
  root.replaceChildren(el("div", { class: "layout" }, body, outline));

  const place = JSON.stringify([data.path, data.version, data.first, mark, data.anchor]);
  if (past.shown !== place) {
    const turned = past.shown && past.first !== data.first;
    Object.assign(past, { shown: place, first: data.first });
    const first = root.querySelector(".marked");
    setTimeout(() => {
      if (first) first.scrollIntoView({ block: "center" });
      else if (root.querySelector(`#h-${CSS.escape(data.anchor)}`)) jump(data.anchor);
      else if (turned) root.scrollIntoView();
    }, 60);
  }
}
