// A list of items that may lead somewhere, filtered while somebody types, or a bar chart of counts. An item with an id is
// opened by Python, which notes that it was read.
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
        ? el(filters.length ? "ul.list.wide" : "ul.list", ...rows.map((item) => drawItem(item, setTriggerValue)))
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
      "div.tools",
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
  const { id, key, title, sub, beside, badges, note, right, action, sides } = item;
  return el(
    "li.item",
    el(
      "div.main",
      item.unread ? el("span.mark", el("span.offscreen", "New")) : null,
      drawTitle(item, send),
      item.number ? el("span.muted.small", ` ${item.number}`) : null,
      beside?.map((news) => [" ", badge(news)]),
      sub ? el(id ? "div.sub.short" : "div.sub", sub) : null,
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
  const href = item.href || (item.doc ? documentHref(item.place || { doc: item.doc }) : "");
  if (item.id) return el("a.title", { href, onclick: plainClick(() => send("open", item.id)) }, item.title);
  return href ? inside({ class: "title" }, href, item.title) : item.title;
}

// One of two statements that differ, the words that do so marked.
const drawSide = ({ doc, title, owner, place, marks }) =>
  el(
    "div.frame",
    inside({ class: "title" }, documentHref({ doc }), title),
    el("div.sub", `${owner} · ${place}`),
    el("p", ...marks.map(([differs, text]) => (differs ? el("mark", text) : text))),
  );
