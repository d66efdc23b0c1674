// A queue of changes, filtered while typing and opened with a click.
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ text: "", author: "", state: "", folder: "" }));
  const list = el("div");
  const none = data.rows.length ? "No change fits these filters." : data.empty;
  const setFilter = (name, value) => {
    state[name] = value;
    fill();
  };
  const filter = (name, label, values) => {
    const options = sortedUnique(values);
    if (options.length < 2 && !state[name]) return null;
    const pairs = [["", label], ...options.map((value) => [value, value])];
    return dropdown(label, pairs, state[name], (value) => setFilter(name, value));
  };
  const fill = () => {
    const rows = data.rows.filter((row) => matches(row, state));
    list.replaceChildren(...(rows.length ? rows.map(drawRow) : [nothing(none)]));
  };
  const tools = () =>
    el(
      "div.tools",
      wordFilter("Filter by title, author, document or number", "Filter changes", state.text, (text) =>
        setFilter("text", text),
      ),
      filter(
        "author",
        "Anybody",
        data.rows.map((row) => row.author),
      ),
      filter(
        "state",
        "Any state",
        data.rows.map((row) => row.badge.text),
      ),
      filter(
        "folder",
        "Any folder",
        data.rows.flatMap((row) => row.folders),
      ),
    );
  fill();
  root.replaceChildren(data.rows.length ? tools() : "", list);
}

const sortedUnique = (values) => [...new Set(values.filter(Boolean))].sort((a, b) => a.localeCompare(b));

const matches = (row, { text, author, state, folder }) =>
  (!author || row.author === author) &&
  (!state || row.badge.text === state) &&
  (!folder || row.folders.includes(folder)) &&
  holdsWords(row, text);

const drawRow = (row) =>
  listItem(
    "",
    [
      inside({ class: "title" }, `/reviews?change=${row.id}`, row.title),
      el("span.muted.small", ` #${row.id}`),
      row.news.map((news) => [" ", badge(news)]),
    ],
    row.about,
    el("div.side", el("div.row.end", badge(row.badge), row.extra.map(badge)), el("div.sub.checks", row.checks)),
    el("div.side.size.sub", el("div", row.size), el("div", row.talk)),
  );
