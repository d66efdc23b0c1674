// Every line with who wrote it; a stretch by the same step is named once.
export default function ({ data, parentElement }) {
  const rows = data.lines.map((line) =>
    el(
      "tr",
      { class: line.who ? "first" : "" },
      el(
        "td",
        { class: "who", title: line.why || "" },
        line.who ? [el("span", {}, line.who), el("span", { class: "muted" }, ` ${line.when}`)] : "",
      ),
      el("td", { class: "no" }, line.number),
      el("td", { class: "text" }, line.text),
    ),
  );
  parentElement.querySelector("#root").replaceChildren(el("div", { class: "frame" }, el("table", {}, rows)));
}
