// Passages of an upload beside the published ones they resemble; the words that differ are marked.
export default function ({ data, parentElement }) {
  fill(
    parentElement,
    el(
      "div.duplicates",
      el("div.head", data.mine),
      el("div.head", data.theirs),
      data.pairs.map((pair) => [
        drawSide(pair.my_line, pair.mine, "new"),
        drawSide(pair.their_line, pair.theirs, "old"),
      ]),
    ),
  );
}

const drawSide = (line, marks, kind) =>
  el("div", { class: `side ${kind}` }, el("span.line", `Line ${line}`), markWords(el("div.text"), marks));
