// Tables in Markdown as { indent, aligns, rows }: read, written with aligned columns, and changed by row and column.
const DELIMITER_ROW = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const PIPE = /(?<!\\)\|/;
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/gu;
const WIDEST = 80; // characters that a column is padded to; a longer cell sticks out

const isTableRow = (line) => line !== undefined && PIPE.test(line);

// The first and last line, from 0, of the table around a line; null where there is none.
function tableAround(lines, at) {
  if (!isTableRow(lines[at])) return null;
  let first = at;
  while (isTableRow(lines[first - 1])) first--;
  let last = at;
  while (isTableRow(lines[last + 1])) last++;
  const delimiter = lines.findIndex((line, n) => n > first && n <= last && DELIMITER_ROW.test(line));
  return delimiter < 0 || at < delimiter - 1 ? null : { first: delimiter - 1, last };
}

// Where the text of each cell of a line stands, as [start, end] pairs.
function cellSpans(line) {
  const cuts = [...line.matchAll(new RegExp(PIPE, "g"))].map((match) => match.index);
  const lead = line.length - line.trimStart().length;
  if (cuts[0] !== lead) cuts.unshift(lead - 1);
  if (line.slice(cuts.at(-1) + 1).trim()) cuts.push(line.length);
  return cuts.slice(0, -1).map((cut, n) => {
    const cell = line.slice(cut + 1, cuts[n + 1]);
    const start = cut + 1 + (cell.trim() ? cell.length - cell.trimStart().length : Math.min(1, cell.length));
    return [start, start + cell.trim().length];
  });
}

const cellTexts = (line) => cellSpans(line).map(([start, end]) => line.slice(start, end));

function readTable(lines) {
  const rows = [lines[0], ...lines.slice(2)].map(cellTexts);
  const columns = Math.max(...rows.map((row) => row.length), cellTexts(lines[1]).length);
  const filled = (row, filler) => [...row, ...Array(columns - row.length).fill(filler)];
  return {
    indent: lines[0].match(/^\s*/)[0],
    aligns: filled(cellTexts(lines[1]).map(alignmentOf), ""),
    rows: rows.map((row) => filled(row, "")),
  };
}

const alignmentOf = (cell) => `${cell.startsWith(":") ? "l" : ""}${cell.endsWith(":") ? "r" : ""}`;

function writeTable({ indent, aligns, rows }) {
  const widths = aligns.map((_, n) => Math.min(WIDEST, Math.max(3, ...rows.map((row) => shownWidth(row[n])))));
  const line = (cells) => `${indent}| ${cells.join(" | ")} |`;
  const written = rows.map((row) => line(row.map((cell, n) => padded(cell, widths[n], aligns[n]))));
  written.splice(1, 0, line(aligns.map((align, n) => delimiterCell(align, widths[n]))));
  return written;
}

const shownWidth = (text) => [...text].length + (text.match(WIDE) || []).length;

function padded(cell, width, align) {
  const missing = Math.max(0, width - shownWidth(cell));
  const before = align === "r" ? missing : align === "lr" ? Math.floor(missing / 2) : 0;
  return " ".repeat(before) + cell + " ".repeat(missing - before);
}

const delimiterCell = (align, width) =>
  (align.includes("l") ? ":" : "-") + "-".repeat(width - 2) + (align.includes("r") ? ":" : "-");

const changedAt = (list, at, remove, ...items) => [...list.slice(0, at), ...items, ...list.slice(at + remove)];

const withTableRow = (table, at) => ({
  ...table,
  rows: changedAt(
    table.rows,
    at,
    0,
    table.aligns.map(() => ""),
  ),
});
const withoutTableRow = (table, at) => ({ ...table, rows: changedAt(table.rows, at, 1) });
const withTableColumn = (table, at) => ({
  ...table,
  aligns: changedAt(table.aligns, at, 0, ""),
  rows: table.rows.map((row) => changedAt(row, at, 0, "")),
});
const withoutTableColumn = (table, at) => ({
  ...table,
  aligns: changedAt(table.aligns, at, 1),
  rows: table.rows.map((row) => changedAt(row, at, 1)),
});

// Cells of a spreadsheet, as they come from the clipboard, as a table; "" for text that is none.
function tableFromTabs(text) {
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "").split("\n");
  if (!lines[0].includes("\t") || !lines.every((line) => line.includes("\t"))) return "";
  return tableFromRows(lines.map((line) => line.split("\t")));
}

function tableFromRows(rows) {
  const columns = Math.max(...rows.map((row) => row.length));
  const cell = (text) => text.trim().replace(/\s+/g, " ").replace(/\|/g, "\\|");
  const filled = rows.map((row) => [...row.map(cell), ...Array(columns - row.length).fill("")]);
  return writeTable({ indent: "", aligns: filled[0].map(() => ""), rows: filled }).join("\n");
}

// ---------------------------------------------------------------- the table at the cursor

// The table at the cursor with the cell that holds it; null outside a table.
function tableHere(view) {
  const { doc, selection } = view.state;
  const current = doc.lineAt(selection.main.head);
  const lines = doc.toString().split("\n");
  const range = tableAround(lines, current.number - 1);
  if (!range) return null;
  const line = current.number - 1 - range.first;
  const spans = cellSpans(current.text);
  const offset = selection.main.head - current.from;
  const column = Math.max(0, spans.filter(([start], n) => n === 0 || offset >= start - 1).length - 1);
  const source = lines.slice(range.first, range.last + 1);
  return { ...range, table: readTable(source), row: line < 2 ? 0 : line - 1, column };
}

// Put a table in the place of the one at the cursor and select one of its cells.
function putTable(view, here, table, row, column) {
  const { doc } = view.state;
  const from = doc.line(here.first + 1).from;
  const lines = writeTable(table);
  const at = row === 0 ? 0 : row + 1;
  const start = from + lines.slice(0, at).reduce((sum, line) => sum + line.length + 1, 0);
  const [first, last] = cellSpans(lines[at])[Math.min(column, table.aligns.length - 1)];
  view.dispatch({
    changes: { from, to: doc.line(here.last + 1).to, insert: lines.join("\n") },
    selection: { anchor: start + first, head: start + last },
    scrollIntoView: true,
    userEvent: "input.table",
  });
  return true;
}

// The line of a row in the document, from 1: the line below the header is the delimiter.
const lineOfRow = (here, row) => here.first + 1 + (row === 0 ? 0 : row + 1);

// Tab: the next cell, or a new row after the last one. Lines that nobody typed in stay as they are, so no diff names them.
function nextTableCell(view, step = 1) {
  const here = tableHere(view);
  if (!here) return false;
  const columns = here.table.aligns.length;
  const target = Math.max(0, here.row * columns + here.column + step);
  const [row, column] = [Math.floor(target / columns), target % columns];
  if (row >= here.table.rows.length) return addTableRow(view, here, here.table.rows.length - 1);
  const line = view.state.doc.line(lineOfRow(here, row));
  const cell = cellSpans(line.text)[column];
  if (!cell) return putTable(view, here, here.table, row, column); // a row that is too short
  view.dispatch({
    selection: { anchor: line.from + cell[0], head: line.from + cell[1] },
    scrollIntoView: true,
    userEvent: "select",
  });
  return true;
}

// An empty row below one, as wide as the delimiters; the other lines stay as they are.
function addTableRow(view, here, row) {
  const { doc } = view.state;
  const widths = cellTexts(doc.line(here.first + 2).text).map((cell) => cell.length);
  const cells = here.table.aligns.map((_, n) => " ".repeat(Math.max(3, widths[n] || 0)));
  const at = row === 0 ? doc.line(here.first + 2).to : doc.line(lineOfRow(here, row)).to;
  const anchor = at + 1 + here.table.indent.length + 2;
  view.dispatch({
    changes: { from: at, insert: `\n${here.table.indent}| ${cells.join(" | ")} |` },
    selection: { anchor, head: anchor + cells[0].length },
    scrollIntoView: true,
    userEvent: "input.table",
  });
  return true;
}

// Enter: a row below this one. In an empty last row it leaves the table instead.
function enterInTable(view) {
  const here = tableHere(view);
  if (!here || !view.state.selection.main.empty) return false;
  const last = here.row === here.table.rows.length - 1;
  if (last && here.row > 0 && here.table.rows[here.row].every((cell) => !cell)) return leaveTable(view, here);
  return addTableRow(view, here, here.row);
}

function leaveTable(view, here) {
  const { doc } = view.state;
  const empty = doc.line(here.last + 1);
  view.dispatch({
    changes: { from: empty.from, to: empty.to, insert: "\n" },
    selection: { anchor: empty.from + 1 },
    scrollIntoView: true,
    userEvent: "input.table",
  });
  return true;
}

const TABLE_TOOLS = [
  ["+Row", "Add a row below", ({ table, row, column }) => [withTableRow(table, row + 1), row + 1, column]],
  ["−Row", "Remove this row", ({ table, row, column }) => [withoutTableRow(table, row), Math.max(0, row - 1), column]],
  [
    "+Col",
    "Add a column to the right",
    ({ table, row, column }) => [withTableColumn(table, column + 1), row, column + 1],
  ],
  [
    "−Col",
    "Remove this column",
    ({ table, row, column }) => [withoutTableColumn(table, column), row, Math.max(0, column - 1)],
  ],
];

// The header and the last column stay: what is left without them is no table.
const tableToolFits = (label, here) =>
  Boolean(here) && !(label === "−Row" && here.row === 0) && !(label === "−Col" && here.table.aligns.length === 1);

function useTableTool(view, [label, , change]) {
  const here = tableHere(view);
  if (tableToolFits(label, here)) putTable(view, here, ...change(here));
}

// The tools of a table are shown inside one; a tool that can do nothing at this place is off.
function showTableTools(node, view) {
  const here = tableHere(view);
  node.classList.toggle("on", Boolean(here));
  TABLE_TOOLS.forEach(([label], n) => (node.children[n].disabled = !tableToolFits(label, here)));
}
