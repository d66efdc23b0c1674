// Lists: what to say of an empty one, and filters by words and by the values of rows. A filter is a name of rows with a
// label for all of them and labels of its values; `counted` shows each value with how many there are.
const nothing = (text) => el("div.none", text);

const valuesOf = (row, name) => [row[name] ?? []].flat();

const fits = (row, filters, state) =>
  filters.every(({ name }) => !state[name] || valuesOf(row, name).includes(state[name])) &&
  state.text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => (row.search || "").includes(word));

function wordFilter(label, value, changed) {
  const oninput = (event) => changed({ text: event.target.value });
  const input = el("input", { type: "search", "data-key": "filter", placeholder: label, "aria-label": label, oninput });
  input.value = value;
  return input;
}

function valueFilter(rows, { name, label, labels, counted }, state, changed) {
  const groups = new Map();
  for (const row of rows)
    for (const value of valuesOf(row, name)) groups.has(value) ? groups.get(value).push(row) : groups.set(value, [row]);
  const count = (value) => countRows(groups.get(value)).toLocaleString("en");
  if (counted)
    return Object.keys(labels)
      .filter((value) => groups.has(value))
      .map((value) => {
        const on = state[name] === value;
        const choose = () => changed({ [name]: on ? "" : value });
        const look = { kind: "outline", key: `${name} ${value}`, pressed: on ? "true" : "false" };
        return button(`${labels[value]} ${count(value)}`, choose, look);
      });
  if (groups.size < 2 && !state[name]) return null;
  const options = [...groups.keys()]
    .map((value) => [value, labels[value] ?? value])
    .sort((a, b) => a[1].localeCompare(b[1]))
    .map(([value, text]) => [value, `${text} (${count(value)})`]);
  return dropdown(label, [["", label], ...options], state[name] || "", (value) => changed({ [name]: value }), name);
}

// How many things the rows name. One that is listed for two reasons counts once; so do those of a folder, whose rows say
// only how many they are.
function countRows(rows) {
  const folders = new Map();
  for (const { count, kind } of rows) if (count) folders.set(kind, (folders.get(kind) || 0) + count);
  const listed = rows.filter(({ count }) => !count).map(({ key, doc }) => key ?? doc);
  return new Set(listed).size + Math.max(0, ...folders.values());
}
