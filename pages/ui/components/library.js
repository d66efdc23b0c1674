const PAGE = 60;
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({
    folder: data.folder || "",
    text: "",
    type: "",
    owner: "",
    fresh: "",
    status: "",
    by: "title",
    down: false,
    shown: PAGE,
  }));
  const below = (row) => !state.folder || row.folder === state.folder || row.folder.startsWith(`${state.folder}/`);
  const pick = (name, label, values) => {
    const box = el(
      "select",
      {
        "aria-label": label,
        "data-key": name,
        onchange: (event) => {
          state[name] = event.target.value;
          state.shown = PAGE;
          draw();
        },
      },
      el("option", { value: "" }, label),
      values.map(([value, text]) => el("option", { value }, text)),
    );
    box.value = state[name];
    return box;
  };
  const distinct = (name, text) =>
    [
      ...new Map(
        data.rows.filter((row) => row[name]).map((row) => [row[name], text ? row[text] : row[name]]),
      ).entries(),
    ].sort((a, b) => a[1].localeCompare(b[1]));

  const folders = new Map();
  for (const row of data.rows) {
    const parts = row.folder ? row.folder.split("/") : [];
    for (let n = 1; n <= parts.length; n++) {
      const name = parts.slice(0, n).join("/");
      folders.set(name, (folders.get(name) || 0) + 1);
    }
  }
  const tree = () =>
    el(
      "nav",
      { class: "tree", "aria-label": "Folders" },
      [
        ["", "All documents", data.rows.length, 0],
        ...[...folders.entries()]
          .sort((a, b) => a[0].localeCompare(b[0]))
          .filter(
            ([name]) =>
              name.split("/").length === 1 ||
              state.folder === name ||
              state.folder.startsWith(`${name.split("/").slice(0, -1).join("/")}/`) ||
              state.folder === name.split("/").slice(0, -1).join("/"),
          )
          .map(([name, count]) => [name, name.split("/").pop(), count, name.split("/").length - 1]),
      ].map(([value, name, count, depth]) =>
        el(
          "button",
          {
            type: "button",
            class: depth ? "deep" : "",
            "aria-current": state.folder === value,
            "data-key": `folder ${value}`,
            style: { paddingLeft: `${8 + 14 * depth}px` },
            onclick: () => {
              state.folder = value;
              state.shown = PAGE;
              draw();
            },
          },
          el("span", { class: "name" }, name),
          el("span", { class: "n" }, count),
        ),
      ),
    );

  const input = el("input", {
    type: "search",
    "data-key": "filter",
    placeholder: "Filter by title, id or tag",
    "aria-label": "Filter by title, id or tag",
    oninput: (event) => {
      state.text = event.target.value;
      state.shown = PAGE;
      fill();
    },
  });
  input.value = state.text;
  const list = el("div", {});
  const side = el("div", {});
  const summary = el("span", { class: "muted small" });

  const matching = () => {
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    return data.rows.filter(
      (row) =>
        below(row) &&
        (!state.type || row.type === state.type) &&
        (!state.owner || row.owner === state.owner) &&
        (!state.fresh || row.fresh === state.fresh) &&
        (!state.status || row.status === state.status) &&
        words.every((word) => row.search.includes(word)),
    );
  };
  const heads = [
    ["title", "Document"],
    ["typeName", "Type", "wide"],
    ["owner", "Owner", "wide"],
    ["updated", "Last change"],
    ["review", "Review due", "wide"],
  ];
  const fill = () =>
    refocus(root, () => {
      const rows = matching().sort(
        (a, b) =>
          (a[state.by] || "").localeCompare(b[state.by] || "") * (state.down ? -1 : 1) ||
          a.title.localeCompare(b.title),
      );
      summary.textContent = `${rows.length} of ${data.rows.length}`;
      const head = el(
        "tr",
        {},
        heads.map(([name, text, kind]) =>
          el(
            "th",
            { class: kind },
            el(
              "button",
              {
                type: "button",
                "data-key": `by ${name}`,
                onclick: () => {
                  state.down = state.by === name && !state.down;
                  state.by = name;
                  fill();
                },
              },
              text,
              state.by === name ? (state.down ? " ↓" : " ↑") : "",
            ),
          ),
        ),
      );
      list.replaceChildren(
        rows.length
          ? el(
              "table",
              {},
              head,
              rows.slice(0, state.shown).map((row) =>
                el(
                  "tr",
                  { class: "item" },
                  el(
                    "td",
                    { class: "title" },
                    inside(
                      {},
                      `/documents?doc=${encodeURIComponent(row.doc)}`,
                      () => setTriggerValue("open", row.doc),
                      row.title,
                    ),
                    el("div", { class: "sub" }, row.sub),
                    el("div", { class: "row", style: { marginTop: "3px" } }, row.badges.map(badge)),
                  ),
                  el("td", { class: "wide" }, row.typeName),
                  el("td", { class: "wide" }, row.owner || el("span", { class: "muted" }, "no owner")),
                  el("td", { class: "day" }, row.updatedText, el("div", { class: "sub" }, `version ${row.version}`)),
                  el("td", { class: "wide day" }, row.reviewText),
                ),
              ),
            )
          : el("div", { class: "none" }, "No document fits these filters."),
        rows.length > state.shown
          ? el(
              "div",
              { style: { padding: "12px 0" } },
              button(
                `Show ${Math.min(PAGE, rows.length - state.shown)} more`,
                () => {
                  state.shown += PAGE;
                  fill();
                },
                { kind: "outline", key: "more" },
              ),
            )
          : "",
      );
    });
  const draw = () =>
    refocus(root, () => {
      side.replaceChildren(tree());
      fill();
    });
  const tools = el(
    "div",
    { class: "tools" },
    input,
    pick("type", "Any type", distinct("type", "typeName")),
    pick("owner", "Any owner", distinct("owner")),
    pick("fresh", "Any freshness", distinct("fresh", "freshName")),
    pick("status", "Any status", distinct("status", "statusName")),
    summary,
  );
  draw();
  refocus(root, () => root.replaceChildren(el("div", { class: "layout" }, side, el("div", {}, tools, list))));
}
