// Lists: a row with what is known of it on the right, what to say of an empty one, and filters by words and values.
const listItem = (kind, title, sub, ...beside) =>
  el("div", { class: `item ${kind}` }, el("div.main", title, sub ? el("div.sub", sub) : null), beside);

const nothing = (text) => el("div.none", text);

const holdsWords = (row, text) =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => row.search.includes(word));

function wordFilter(placeholder, label, value, changed) {
  const oninput = (event) => changed(event.target.value);
  const input = el("input", { type: "search", "data-key": "filter", placeholder, "aria-label": label, oninput });
  input.value = value;
  return input;
}
