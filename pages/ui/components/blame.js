// Every line with who wrote it; a stretch by the same step is named once.
export default function ({ data, parentElement }) {
  const rows = data.lines.map((line) =>
    el(
      "tr",
      { class: line.who ? "first" : "" },
      el(
        "td.who",
        { title: line.why || "" },
        line.who ? [el("span", line.who), el("span.muted", ` ${line.when}`)] : "",
      ),
      el("td.no", line.number),
      el("td.text", line.text),
    ),
  );
  fill(parentElement, el("div.frame", el("table.code", rows)));
}
