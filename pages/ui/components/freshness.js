// Documents that need a look, with one button each; filters work at once.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ owner: "", folder: "", kind: "" }));
  const count = (name) => {
    const found = new Map();
    for (const row of data.rows) if (row[name] !== undefined) found.set(row[name], (found.get(row[name]) || 0) + 1);
    return [...found.entries()].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  };
  const group = (name, title, words) =>
    el(
      "div",
      { class: "facet" },
      el("h4", {}, title),
      count(name).map(([value, n]) =>
        el(
          "button",
          {
            type: "button",
            "aria-pressed": state[name] === value ? "true" : "false",
            "data-key": `${name} ${value}`,
            onclick: () => {
              state[name] = state[name] === value ? "" : value;
              draw();
            },
          },
          el("span", { class: "name" }, (words && words[value]) || value || "none"),
          el("span", { class: "n" }, n),
        ),
      ),
    );
  const line = (row) =>
    el(
      "div",
      { class: "item" },
      el(
        "div",
        { class: "main" },
        inside(
          { class: "title" },
          `/documents?doc=${encodeURIComponent(row.doc)}`,
          () => setTriggerValue("open", row.doc),
          row.title,
        ),
        el("div", { class: "sub" }, row.about),
      ),
      el("div", { class: "when" }, badge(row.badge), el("div", { class: "sub" }, row.when)),
      data.may && row.dated
        ? button("Still right", () => setTriggerValue("confirm", row.path), {
            kind: "outline",
            key: `confirm ${row.path}`,
            title: "You read it and its words are still right",
          })
        : el("span", {}),
    );
  const draw = () => {
    const rows = data.rows.filter((row) =>
      ["owner", "folder", "kind"].every((name) => !state[name] || row[name] === state[name]),
    );
    refocus(root, () =>
      root.replaceChildren(
        el(
          "div",
          { class: "layout" },
          el(
            "nav",
            { "aria-label": "Filters" },
            group("kind", "What is due", data.kinds),
            group("owner", "Owner"),
            group("folder", "Folder"),
          ),
          el(
            "div",
            {},
            rows.length
              ? rows.map(line)
              : el("div", { class: "none" }, data.rows.length ? "Nothing fits these filters." : data.empty),
          ),
        ),
      ),
    );
  };
  draw();
}
