// All documents: folders on the left, filters above, a sorted table. Only an edit of chosen documents needs a round trip.
const NOBODY = "-"; // instead of an owner
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
    folder: "",
    text: "",
    by: "title",
    down: false,
    shown: PAGE,
    chosen: new Set(),
  }));
  const asked = JSON.stringify(data.narrowed);
  if (state.asked !== asked) Object.assign(state, data.narrowed, { asked }); // named by the address
  const folders = countFolders(data.rows);
  const side = el("div");
  const watch = el("span");
  const watchButton = () => {
    const on = data.watched?.includes(state.folder);
    const label = on ? "Watching this folder" : "Watch this folder";
    const title = on ? "Press to hear no more about it" : "A message in your inbox when a document in it changes";
    return button(label, () => setTriggerValue("watch", state.folder), { kind: "outline", key: "watch", title });
  };
  const list = el("div");
  const summary = el("span.muted.small");
  const picked = el("div.row.picked", { role: "status" });

  const draw = () =>
    refocus(root, () => {
      side.replaceChildren(folderTree(folders, data.rows.length, state.folder, (folder) => filterBy({ folder })));
      watch.replaceChildren(state.folder ? watchButton() : "");
      drawList();
    });
  const drawList = () =>
    refocus(root, () => {
      const rows = data.rows
        .filter((row) => isBelow(row, state.folder) && fits(row, data.filters, state))
        .sort(order(state));
      summary.textContent = `${rows.length} of ${data.rows.length}`;
      picked.replaceChildren(...(data.select ? chosenTools(state.chosen, edit, choose) : []));
      list.replaceChildren(
        rows.length ? table(rows) : nothing("No document fits these filters."),
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
  const choose = (docs, on) => {
    for (const doc of docs) state.chosen[on ? "add" : "delete"](doc);
    drawList();
  };
  const edit = () => setTriggerValue("edit", { docs: [...state.chosen] });
  const showMore = () => {
    state.shown += PAGE;
    drawList();
  };

  const table = (rows) =>
    el(
      "table",
      tableHead(state, sortBy, data.select && chooseAll(rows, state.chosen, choose)),
      rows.slice(0, state.shown).map((row) => drawRow(row, data.select && chooseRow(row, state.chosen, choose))),
    );
  const moreButton = (hidden) =>
    el(
      "div",
      { style: { padding: "12px 0" } },
      button(`Show ${Math.min(PAGE, hidden)} more`, showMore, { kind: "outline", key: "more" }),
    );
  const tools = el(
    "div.row.tools",
    wordFilter("Filter by title, id or tag", state.text, filterBy),
    data.filters.map((filter) => valueFilter(data.rows, filter, state, filterBy)),
    watch,
    summary,
  );
  draw();
  refocus(root, () => root.replaceChildren(el("div.layout", side, el("div", tools, picked, list))));
}

const isBelow = ({ folder }, chosen) => `${folder}/`.startsWith(chosen && `${chosen}/`);

const order =
  ({ by, down }) =>
  (a, b) =>
    (a[by] || "").localeCompare(b[by] || "") * (down ? -1 : 1) || a.title.localeCompare(b.title);

const checkbox = (label, key, on, onchoose) =>
  el("input", { type: "checkbox", "aria-label": label, "data-key": key, checked: on, onchange: onchoose });

function chooseAll(rows, chosen, choose) {
  const on = rows.length > 0 && rows.every(({ doc }) => chosen.has(doc));
  const all = rows.map(({ doc }) => doc);
  return checkbox(`Select all ${rows.length} documents`, "all", on, () => choose(all, !on));
}

const chooseRow = ({ doc, title }, chosen, choose) =>
  checkbox(`Select ${title}`, `choose ${doc}`, chosen.has(doc), () => choose([doc], !chosen.has(doc)));

// How many are chosen, whatever the filters show now, and what can be done with them.
function chosenTools(chosen, edit, choose) {
  if (!chosen.size) return [];
  const what = `${chosen.size.toLocaleString("en")} ${chosen.size === 1 ? "document" : "documents"}`;
  return [
    el("span", `${what} selected`),
    button(`Edit ${what}`, edit, { kind: "primary", key: "edit" }),
    button("Clear", () => choose([...chosen], false), { key: "clear" }),
  ];
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
  const parents = new Set([...folders.keys()].map(parentFolder));
  const isOpen = (folder) => chosen === folder || chosen.startsWith(`${folder}/`);
  const sign = (folder) => (folder && parents.has(folder) ? (isOpen(folder) ? "▾" : "▸") : "");
  return el(
    "nav.tree",
    { "aria-label": "Folders" },
    [["", "All documents", total, 0], ...visible].map(([folder, name, count, depth]) =>
      el(
        "button",
        {
          "aria-current": chosen === folder,
          "aria-expanded": parents.has(folder) && folder ? isOpen(folder) : null,
          "data-key": `folder ${folder}`,
          style: { paddingLeft: `${8 + 14 * depth}px` },
          onclick: () => choose(folder),
        },
        el("span.sign", { "aria-hidden": "true" }, sign(folder)),
        el("span.name", { title: folder }, name),
        el("span.n", count.toLocaleString("en")),
      ),
    ),
  );
}

function tableHead({ by, down }, sortBy, all) {
  const arrow = (column) => (by !== column ? "" : down ? " ↓" : " ↑");
  return el(
    "tr",
    all ? el("th.choose", all) : null,
    COLUMNS.map(([column, label, kind]) =>
      el(
        "th",
        { class: kind },
        el("button", { "data-key": `by ${column}`, onclick: () => sortBy(column) }, label, arrow(column)),
      ),
    ),
  );
}

const drawRow = (row, choice) =>
  el(
    "tr.item",
    choice ? el("td.choose", choice) : null,
    el(
      "td.title",
      inside({}, documentHref({ doc: row.doc }), row.title),
      el("div.sub", row.sub),
      el("div.row", { style: { marginTop: "3px" } }, row.badges.map(badge)),
    ),
    el("td.wide", row.typeName),
    el("td.wide", row.owner === NOBODY ? el("span.muted.nobody", "no owner") : row.owner),
    el("td.day", row.updatedText, el("div.sub", `version ${row.version}`)),
    el("td.wide.day", row.reviewText),
  );
