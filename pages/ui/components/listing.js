// A list of items that may lead somewhere, filtered while somebody types, or a bar chart of counts. An item with an id is
// opened by Python; one that can be pressed is chosen among the others, with a click anywhere on it.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  if (data.bars) return root.replaceChildren(bars(data.bars));
  const { items, filters, words } = data;
  const state = memory(root, () => ({ text: "", ...data.chosen }));
  const list = el("div");
  const drawList = () => {
    const rows = items.filter((item) => fits(item, filters, state));
    list.replaceChildren(
      rows.length
        ? el(
            "ul",
            { class: `list ${filters.length ? "wide" : ""}` },
            ...rows.map((item) => drawItem(item, setTriggerValue)),
          )
        : nothing(items.length ? "Nothing fits these filters." : data.empty),
    );
  };
  const choose = (change) => {
    Object.assign(state, change);
    draw();
  };
  const type = (change) => {
    Object.assign(state, change);
    drawList(); // the box stays as it is
  };
  const tools = () =>
    el(
      "div.row.tools",
      { role: "group", "aria-label": "Filters" },
      words ? wordFilter(words, state.text, type) : null,
      filters.map((filter) => valueFilter(items, filter, state, choose)),
    );
  const draw = () =>
    refocus(root, () => {
      drawList();
      root.replaceChildren(items.length && filters.length ? tools() : "", list);
    });
  draw();
}

function bars(counts) {
  const largest = Math.max(1, ...counts.map(([, count]) => count));
  return el(
    "div.bars",
    counts.map(([name, count]) => [
      el("span", name),
      el("div.track", el("div", { style: { width: `${(100 * count) / largest}%` } })),
      el("span.n", count),
    ]),
  );
}

function drawItem(item, send) {
  const { key, sub, beside, badges, note, right, action, sides } = item;
  return el(
    "li",
    { class: item.pressed ? "item picked" : "item" },
    el(
      "div.main",
      item.unread ? el("span.mark", el("span.offscreen", "New")) : null,
      drawTitle(item, send),
      item.number ? el("span.muted.small", ` ${item.number}`) : null,
      beside?.map((news) => [" ", badge(news)]),
      sub ? el(item.href && item.id ? "div.sub.short" : "div.sub", sub) : null,
    ),
    el("div", el("div.row", badges?.map(badge)), note ? el("div.sub", note) : null),
    el(
      "div.aside",
      [right].flat().map((line) => (line ? el("div", line) : null)),
      action
        ? button(action.label, () => send("act", { do: action.do, key }), {
            kind: "outline",
            key: `${action.do} ${key}`,
            title: action.title,
          })
        : null,
    ),
    sides ? el("div.sides", ...sides.map(drawSide)) : null,
  );
}

function drawTitle(item, send) {
  const { id, title, pressed } = item;
  const href = item.href || (item.doc ? documentHref(item.place || { doc: item.doc }) : "");
  const open = () => send("open", id);
  if (pressed !== undefined)
    return el("button.title", { "aria-pressed": String(pressed), "data-key": `open ${id}`, onclick: open }, title);
  if (id) return el("a.title", { href, onclick: plainClick(open) }, title);
  return href ? inside({ class: "title" }, href, title) : title;
}

// One of two texts that differ, the words that do so marked.
const drawSide = ({ doc, title, sub, marks }) =>
  el(
    "div.frame",
    doc ? inside({ class: "title" }, documentHref({ doc }), title) : el("strong", title),
    el("div.sub", sub),
    el("p", ...marks.map(([differs, text]) => (differs ? el("mark", text) : text))),
  );
