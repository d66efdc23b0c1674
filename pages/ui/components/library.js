// All documents: folders on the left, filters above, a sorted table. Nothing here needs a round trip.
const PAGE = 60; // rows shown at first, and added by "Show more"
const COLUMNS = [
  ["title", "Document"],
  ["typeName", "Type", "wide"],
  ["owner", "Owner", "wide"],
  ["updated", "Last change"],
  ["review", "Review due", "wide"],
];

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
  if (data.folder && state.opened !== data.folder) state.folder = state.opened = data.folder; // named by the address
  const folders = countFolders(data.rows);
  const side = el("div", {});
  const watch = el("span", {});
  const watchButton = () => {
    const on = data.watched?.includes(state.folder);
    const label = on ? "Watching this folder" : "Watch this folder";
    const title = on ? "Press to hear no more about it" : "A message in your inbox when a document in it changes";
    return button(label, () => setTriggerValue("watch", state.folder), { kind: "outline", key: "watch", title });
  };
  const list = el("div", {});
  const summary = el("span", { class: "muted small" });

  const draw = () =>
    refocus(root, () => {
      side.replaceChildren(folderTree(folders, data.rows.length, state.folder, (folder) => filterBy({ folder })));
      watch.replaceChildren(state.folder ? watchButton() : "");
      drawList();
    });
  const drawList = () =>
    refocus(root, () => {
      const rows = data.rows.filter((row) => matches(row, state)).sort(order(state));
      summary.textContent = `${rows.length} of ${data.rows.length}`;
      list.replaceChildren(
        rows.length ? table(rows) : el("div", { class: "none" }, "No document fits these filters."),
        rows.length > state.shown ? moreButton(rows.length - state.shown) : "",
      );
    });
  const filterBy = (change) => {
    Object.assign(state, change, { shown: PAGE });
    draw();
  };
  const sortBy = (column) => {
    state.down = state.by === column && !state.down;
    state.by = column;
    drawList();
  };
  const showMore = () => {
    state.shown += PAGE;
    drawList();
  };

  const table = (rows) => el("table", {}, tableHead(state, sortBy), rows.slice(0, state.shown).map(drawRow));
  const moreButton = (hidden) =>
    el(
      "div",
      { style: { padding: "12px 0" } },
      button(`Show ${Math.min(PAGE, hidden)} more`, showMore, { kind: "outline", key: "more" }),
    );
  const filter = (name, label, labels) =>
    dropdown(
      label,
      [["", label], ...distinct(data.rows, name, labels)],
      state[name],
      (value) => filterBy({ [name]: value }),
      name,
    );
  const input = el("input", {
    type: "search",
    "data-key": "filter",
    placeholder: "Filter by title, id or tag",
    "aria-label": "Filter by title, id or tag",
    oninput: (event) => filterBy({ text: event.target.value }),
  });
  input.value = state.text;
  const tools = el(
    "div",
    { class: "tools" },
    input,
    filter("type", "Any type", "typeName"),
    filter("owner", "Any owner"),
    filter("fresh", "Any freshness", "freshName"),
    filter("status", "Any status", "statusName"),
    watch,
    summary,
  );
  draw();
  refocus(root, () => root.replaceChildren(el("div", { class: "layout" }, side, el("div", {}, tools, list))));
}

function matches(row, state) {
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  return (
    (!state.folder || row.folder === state.folder || row.folder.startsWith(`${state.folder}/`)) &&
    ["type", "owner", "fresh", "status"].every((name) => !state[name] || row[name] === state[name]) &&
    words.every((word) => row.search.includes(word))
  );
}

const order =
  ({ by, down }) =>
  (a, b) =>
    (a[by] || "").localeCompare(b[by] || "") * (down ? -1 : 1) || a.title.localeCompare(b.title);

// The values of a field as [value, label] pairs, sorted by label.
function distinct(rows, name, labelName = name) {
  const labels = new Map(rows.filter((row) => row[name]).map((row) => [row[name], row[labelName]]));
  return [...labels.entries()].sort((a, b) => a[1].localeCompare(b[1]));
}

// How many documents lie in each folder, those in folders below it included.
function countFolders(rows) {
  const counts = new Map();
  for (const row of rows) {
    const parts = row.folder ? row.folder.split("/") : [];
    for (let depth = 1; depth <= parts.length; depth++) {
      const folder = parts.slice(0, depth).join("/");
      counts.set(folder, (counts.get(folder) || 0) + 1);
    }
  }
  return counts;
}

const parentFolder = (folder) => folder.split("/").slice(0, -1).join("/");

// Open the way to the chosen folder: show the top folders, the chosen one, and what lies beside and right below it.
function isVisible(folder, chosen) {
  const parent = parentFolder(folder);
  return !parent || chosen === folder || chosen === parent || chosen.startsWith(`${parent}/`);
}

function folderTree(folders, total, chosen, choose) {
  const visible = [...folders.entries()]
    .sort((a, b) => a[0].localeCompare(b[0]))
    .filter(([folder]) => isVisible(folder, chosen))
    .map(([folder, count]) => [folder, folder.split("/").pop(), count, folder.split("/").length - 1]);
  return el(
    "nav",
    { class: "tree", "aria-label": "Folders" },
    [["", "All documents", total, 0], ...visible].map(([folder, name, count, depth]) =>
      el(
        "button",
        {
          type: "button",
          class: depth ? "deep" : "",
          "aria-current": chosen === folder,
          "data-key": `folder ${folder}`,
          style: { paddingLeft: `${8 + 14 * depth}px` },
          onclick: () => choose(folder),
        },
        el("span", { class: "name" }, name),
        el("span", { class: "n" }, count),
      ),
    ),
  );
}

function tableHead({ by, down }, sortBy) {
  const arrow = (column) => (by !== column ? "" : down ? " ↓" : " ↑");
  return el(
    "tr",
    {},
    COLUMNS.map(([column, label, kind]) =>
      el(
        "th",
        { class: kind },
        el(
          "button",
          { type: "button", "data-key": `by ${column}`, onclick: () => sortBy(column) },
          label,
          arrow(column),
        ),
      ),
    ),
  );
}

const drawRow = (row) =>
  el(
    "tr",
    { class: "item" },
    el(
      "td",
      { class: "title" },
      inside({}, documentHref({ doc: row.doc }), row.title),
      el("div", { class: "sub" }, row.sub),
      el("div", { class: "row", style: { marginTop: "3px" } }, row.badges.map(badge)),
    ),
    el("td", { class: "wide" }, row.typeName),
    el("td", { class: "wide" }, row.owner || el("span", { class: "muted" }, "no owner")),
    el("td", { class: "day" }, row.updatedText, el("div", { class: "sub" }, `version ${row.version}`)),
    el("td", { class: "wide day" }, row.reviewText),
  );
