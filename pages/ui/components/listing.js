// A list of items that may lead to documents, or a bar chart of counts.
export default function ({ data, parentElement }) {
  fill(parentElement, data.bars ? bars(data.bars) : items(data));
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

const items = (data) => el("div", data.items.length ? data.items.map(drawItem) : nothing(data.empty));

function drawItem(item) {
  const href = item.href || (item.doc ? documentHref(item.place || { doc: item.doc }) : "");
  const right = el("div.right", (item.badges || []).map(badge), item.right && el("div", item.right));
  return listItem("", href ? inside({}, href, item.title) : el("span", item.title), item.sub, right);
}
