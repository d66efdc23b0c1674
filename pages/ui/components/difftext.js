// Diffs: rows { kind, left, right, before, after }, where before and after are [changed, text] marks.
const isRemoval = (row) => row.kind === "changed" || row.kind === "removed";
const isAddition = (row) => row.kind === "changed" || row.kind === "added";

// Put the marks of a line into an element; the changed words are bold.
function markWords(element, marks) {
  element.append(...(marks || []).map(([changed, text]) => (changed ? el("b", text) : text)));
  return element;
}

// A small diff without line numbers: old lines, and below them the new ones.
const diffBlock = (rows) =>
  el(
    "div.code",
    rows.flatMap((row) => [
      row.left ? markWords(el("div", { class: row.kind === "equal" ? "" : "minus" }), row.before) : null,
      row.right && row.kind !== "equal" ? markWords(el("div.plus"), row.after) : null,
    ]),
  );

// The table rows of one diff row, with two columns of text or one. `lineNumber(n, side)` draws a line number's cell.
const diffRows = (row, split, lineNumber) => (split ? [splitRow(row, lineNumber)] : inlineRows(row, lineNumber));

function splitRow(row, lineNumber) {
  const cellClass = (number, tone) => (number ? tone : "void");
  return el(
    "tr",
    lineNumber(row.left, isRemoval(row) ? "left" : ""),
    markWords(el("td", { class: cellClass(row.left, isRemoval(row) ? "minus" : "") }), row.before),
    lineNumber(row.right, "right"),
    markWords(el("td", { class: cellClass(row.right, isAddition(row) ? "plus" : "") }), row.after),
  );
}

function inlineRows(row, lineNumber) {
  if (row.kind === "equal")
    return [el("tr", lineNumber(row.left), lineNumber(row.right, "right"), markWords(el("td"), row.before))];
  const old = () => el("tr", lineNumber(row.left, "left"), lineNumber(""), markWords(el("td.minus"), row.before));
  const now = () => el("tr", lineNumber(""), lineNumber(row.right, "right"), markWords(el("td.plus"), row.after));
  return [isRemoval(row) ? old() : null, isAddition(row) ? now() : null].filter(Boolean);
}

const unchangedLines = (count) => `${count} unchanged line${count === 1 ? "" : "s"}`;

const columnSpan = (split) => (split ? 4 : 3);

const columnWidths = (split) =>
  el(
    "colgroup",
    (split ? ["46px", "", "46px", ""] : ["46px", "46px", ""]).map((width) =>
      el("col", { style: width ? { width } : {} }),
    ),
  );
