// Two versions of a document, side by side or inline.
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ split: window.innerWidth > 900 }));
  const viewButton = (label, split) => {
    const choose = () => {
      state.split = split;
      draw();
    };
    return button(label, choose, { pressed: state.split === split ? "true" : "false" });
  };
  const draw = () =>
    root.replaceChildren(
      el(
        "div.row.tools",
        el("span.muted.small", data.summary),
        el("span.spring"),
        viewButton("Side by side", true),
        viewButton("Inline", false),
      ),
      data.fields.length ? fieldTable(data.fields) : "",
      el("div.frame", data.rows.some((row) => row.kind !== "gap") ? lineTable(data, state.split) : same(data)),
    );
  draw();
}

const same = ({ fields }) =>
  el("div.same", fields.length ? "The text itself did not change." : "These two versions are the same.");

const fieldTable = (fields) =>
  el(
    "table.fields",
    fields.map((field) =>
      el(
        "tr",
        el("td.name", field.name.replaceAll("_", " ")),
        el("td.minus", field.before || "–"),
        el("td.plus", field.after || "–"),
      ),
    ),
  );

function lineTable({ rows, left, right }, split) {
  const head = split
    ? el("tr.head", el("td", { colspan: 2 }, left), el("td", { colspan: 2 }, right))
    : el("tr.head", el("td", { colspan: 3 }, `${left} → ${right}`));
  const gap = (row) => el("tr.gap", el("td", { colspan: columnSpan(split) }, unchangedLines(row.count)));
  const lineNumber = (number) => el("td.no", number || "");
  const body = rows.map((row) => (row.kind === "gap" ? gap(row) : diffRows(row, split, lineNumber)));
  return el("table.code", columnWidths(split), head, body);
}
