export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("#root");
  const side = (line, marks, kind) =>
    el(
      "div",
      { class: `side ${kind}` },
      el("span", { class: "line" }, `Line ${line}`),
      el(
        "div",
        { class: "text" },
        marks.map(([changed, text]) => (changed ? el("b", {}, text) : text)),
      ),
    );
  root.replaceChildren(
    el(
      "div",
      { class: "twins" },
      el("div", { class: "head" }, data.mine),
      el("div", { class: "head" }, data.theirs),
      data.pairs.map((pair) => [side(pair.my_line, pair.mine, "new"), side(pair.their_line, pair.theirs, "old")]),
    ),
  );
}
