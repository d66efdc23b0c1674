// A list of items that may lead to documents, or a bar chart of counts.
export default function ({ data, parentElement }) {
  parentElement.querySelector("#root").replaceChildren(data.bars ? bars(data.bars) : items(data));
}

function bars(counts) {
  const largest = Math.max(1, ...counts.map(([, count]) => count));
  return el(
    "div",
    { class: "bars" },
    counts.map(([name, count]) => [
      el("span", {}, name),
      el("div", { class: "track" }, el("div", { style: { width: `${(100 * count) / largest}%` } })),
      el("span", { class: "n" }, count),
    ]),
  );
}

const items = (data) =>
  el("div", {}, data.items.length ? data.items.map(drawItem) : el("div", { class: "none" }, data.empty));

function drawItem(item) {
  const place = item.place || { doc: item.doc };
  return el(
    "div",
    { class: "item" },
    el(
      "div",
      { class: "main" },
      item.doc || item.href ? inside({}, item.href || documentHref(place), item.title) : el("span", {}, item.title),
      item.sub ? el("div", { class: "sub" }, item.sub) : null,
    ),
    el("div", { class: "right" }, (item.badges || []).map(badge), item.right ? el("div", {}, item.right) : null),
  );
}
