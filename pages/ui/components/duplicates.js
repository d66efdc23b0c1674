// Passages of an upload beside the published ones they resemble; the words that differ are marked.
export default function ({ data, parentElement }) {
  parentElement.querySelector("#root").replaceChildren(
    el(
      "div",
      { class: "duplicates" },
      el("div", { class: "head" }, data.mine),
      el("div", { class: "head" }, data.theirs),
      data.pairs.map((pair) => [
        drawSide(pair.my_line, pair.mine, "new"),
        drawSide(pair.their_line, pair.theirs, "old"),
      ]),
    ),
  );
}

const drawSide = (line, marks, kind) =>
  el(
    "div",
    { class: `side ${kind}` },
    el("span", { class: "line" }, `Line ${line}`),
    markWords(el("div", { class: "text" }), marks),
  );
