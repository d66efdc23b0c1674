// A passage as lines: paragraphs, list items and table rows, with the matched words and the best sentence marked.
// `cut` says whether text was left out at the start and at the end. A line with tabs is a row; one that ends with a tab heads the table.
// A line that ends with an invisible separator is the heading of a section.
function snippet({ segments, cut: [cutStart, cutEnd] }) {
  const lines = splitAt(segments, "\n");
  if (cutStart) lines[0].unshift(["… ", false, false]);
  if (cutEnd) lines[lines.length - 1].push([" …", false, false]);
  const blocks = [];
  let table = null;
  for (const line of lines) {
    if (isHeading(line)) {
      blocks.push(el("div.heading", line.map(segment)));
      table = null;
    } else if (!isRow(line)) {
      blocks.push(textLine(line));
      table = null;
    } else {
      if (!table) blocks.push(el("div.table", (table = el("table"))));
      table.append(tableRow(line));
    }
  }
  return el("div.text", blocks);
}

const lineText = (line) => line.map(([text]) => text).join("");
const isHeading = (line) => /\u2063( …)?$/.test(lineText(line));
const isRow = (line) => lineText(line).includes("\t");

// Segments cut at a character: one list of segments per part.
function splitAt(segments, character) {
  const parts = [[]];
  for (const [text, ...marks] of segments)
    text.split(character).forEach((piece, n) => {
      if (n) parts.push([]);
      if (piece) parts[parts.length - 1].push([piece, ...marks]);
    });
  return parts;
}

function textLine(line) {
  const item = /^ *(\d+[.)]|•) /.exec(lineText(line).replace(/^… /, ""));
  const depth = item ? item[0].search(/\S/) : 0;
  if (depth) line = [[line[0][0].trimStart(), ...line[0].slice(1)], ...line.slice(1)];
  return el("div", { class: item ? "item" : "", style: { marginLeft: `${depth}em` } }, line.map(segment));
}

function tableRow(line) {
  const cells = splitAt(line, "\t");
  const heads = /\t( …)?$/.test(lineText(line));
  if (heads) cells.pop();
  return el(
    "tr",
    cells.map((cell) => el(heads ? "th" : "td", {}, cell.map(segment))),
  );
}

function segment([text, matched, best]) {
  const words = matched ? el("mark", text) : text;
  return best ? el("span.best", words) : words;
}
