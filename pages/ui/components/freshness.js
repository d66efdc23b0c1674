// Documents that are due for review, with one button each. Filtering happens here, without a round trip.
const FILTERS = ["owner", "folder", "kind"];

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ owner: "", folder: "", kind: "", open: false }));
  const toggle = (filter, value) => {
    state[filter] = state[filter] === value ? "" : value;
    draw();
  };
  const facet = (filter, title, labels) => drawFacet(data.rows, filter, title, state[filter], toggle, labels);
  const showMore = () => {
    state.open = !state.open;
    draw();
  };
  const layout = (rows) =>
    el(
      "div.layout",
      el(
        "nav",
        { "aria-label": "Filters", class: state.open ? "open" : "" },
        facet("kind", data.head || "What is due", data.kinds),
        button("Filter by owner or folder", showMore, { kind: "outline more", key: "more" }),
        facet("owner", "Owner"),
        facet("folder", "Folder"),
      ),
      el(
        "div",
        rows.length
          ? rows.map((row) => drawRow(row, data.may, setTriggerValue))
          : nothing("Nothing fits these filters."),
      ),
    );
  const draw = () => {
    if (!data.rows.length) {
      root.replaceChildren(nothing(data.empty));
      return;
    }
    const rows = data.rows.filter((row) => FILTERS.every((name) => !state[name] || row[name] === state[name]));
    refocus(root, () => root.replaceChildren(layout(rows)));
  };
  draw();
}

// How many documents have each value, the most frequent first. One that is due for two reasons counts once; so do the
// documents of a folder, whose rows say only how many they are.
function countValues(rows, name) {
  const tallies = new Map();
  for (const row of rows.filter((row) => row[name] !== undefined)) {
    const tally = tallies.get(row[name]) || { listed: new Set(), folders: new Map() };
    tallies.set(row[name], tally);
    if (row.count) tally.folders.set(row.kind, (tally.folders.get(row.kind) || 0) + row.count);
    else tally.listed.add(`${row.path} ${row.title}`);
  }
  return [...tallies]
    .map(([value, { listed, folders }]) => [value, listed.size + Math.max(0, ...folders.values())])
    .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

function drawFacet(rows, filter, title, chosen, toggle, labels = {}) {
  const options = countValues(rows, filter).map(([value, count]) =>
    el(
      "button",
      {
        "aria-pressed": chosen === value ? "true" : "false",
        "data-key": `${filter} ${value}`,
        onclick: () => toggle(filter, value),
      },
      el("span.name", labels[value] || value || "none"),
      el("span.n", count),
    ),
  );
  return el("div", { class: `facet ${filter}` }, el("h2", title), el("div.options", options));
}

function drawRow(row, mayConfirm, send) {
  const confirm = () =>
    button("Still right", () => send("confirm", row.path), {
      kind: "outline",
      key: `confirm ${row.path}`,
      title: "You read it and its words are still right",
    });
  const href = row.within
    ? `/freshness?${new URLSearchParams({ folder: row.within })}`
    : documentHref(row.doc ? { doc: row.doc } : row.where);
  return listItem(
    mayConfirm ? "" : "plain",
    inside({ class: "title" }, href, row.title),
    row.about,
    el("div.when", badge(row.badge), el("div.sub", row.when)),
    mayConfirm && row.dated ? confirm() : el("span"),
  );
}
