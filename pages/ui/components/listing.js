// A list of items that may lead somewhere, or a bar chart of counts. An item with an id is opened by Python, which notes that
// it was read.
export default function ({ data, parentElement, setTriggerValue }) {
  const list = () => el("ul.list", ...data.items.map((item) => drawItem(item, setTriggerValue)));
  fill(parentElement, data.bars ? bars(data.bars) : data.items.length ? list() : nothing(data.empty));
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
  const href = item.href || (item.doc ? documentHref(item.place || { doc: item.doc }) : "");
  const open = plainClick(() => send("open", item.id));
  const title = item.id ? el("a", { href, onclick: open }, item.title) : inside({}, href, item.title);
  return el(
    "li.item",
    el(
      "div.main",
      item.unread ? el("span.mark", el("span.offscreen", "New")) : null,
      href ? title : el("span", item.title),
      item.sub ? el(item.id ? "div.sub.short" : "div.sub", item.sub) : null,
    ),
    el("div.right", (item.badges || []).map(badge), item.right ? el("span.when", item.right) : null),
  );
}
