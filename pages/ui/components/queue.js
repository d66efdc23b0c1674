// A queue of changes: filtered while somebody types, opened with a click.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ text: "", author: "", state: "", folder: "" }));
  const distinct = (values) => [...new Set(values.filter(Boolean))].sort((a, b) => a.localeCompare(b));
  const pick = (name, label, values) => {
    if (values.length < 2 && !state[name]) return null;
    const box = el(
      "select",
      {
        "aria-label": label,
        onchange: (event) => {
          state[name] = event.target.value;
          fill();
        },
      },
      el("option", { value: "" }, label),
      values.map((value) => el("option", { value }, value)),
    );
    box.value = state[name];
    return box;
  };
  const input = el("input", {
    type: "search",
    placeholder: "Filter by title, author, document or number",
    "aria-label": "Filter changes",
    oninput: (event) => {
      state.text = event.target.value;
      fill();
    },
  });
  input.value = state.text;
  const list = el("div", {});
  const line = (row) =>
    el(
      "div",
      { class: "item" },
      el(
        "div",
        { class: "main" },
        el(
          "div",
          {},
          inside({ class: "title" }, `/reviews?change=${row.id}`, () => setTriggerValue("open", row.id), row.title),
          " ",
          el("span", { class: "muted small" }, `#${row.id}`),
        ),
        el("div", { class: "sub" }, row.about),
      ),
      el(
        "div",
        { class: "side" },
        el("div", { class: "row end" }, badge(row.badge), row.extra.map(badge)),
        el("div", { class: "sub checks" }, row.checks),
      ),
      el("div", { class: "side size sub" }, el("div", {}, row.size), el("div", {}, row.talk)),
    );
  const fill = () => {
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = data.rows.filter(
      (row) =>
        (!state.author || row.author === state.author) &&
        (!state.state || row.badge.text === state.state) &&
        (!state.folder || row.folders.includes(state.folder)) &&
        words.every((word) => row.search.includes(word)),
    );
    list.replaceChildren(
      ...(rows.length
        ? rows.map(line)
        : [el("div", { class: "none" }, data.rows.length ? "No change fits these filters." : data.empty)]),
    );
  };
  fill();
  root.replaceChildren(
    data.rows.length
      ? el(
          "div",
          { class: "tools" },
          input,
          pick("author", "Anybody", distinct(data.rows.map((row) => row.author))),
          pick("state", "Any state", distinct(data.rows.map((row) => row.badge.text))),
          pick("folder", "Any folder", distinct(data.rows.flatMap((row) => row.folders))),
        )
      : "",
    list,
  );
}
