export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ split: window.innerWidth > 900 }));
  const fill = (cell, marks) => {
    for (const [changed, text] of marks || []) cell.append(changed ? el("b", {}, text) : document.createTextNode(text));
    return cell;
  };
  const number = (n) => el("td", { class: "no" }, n || "");
  const columns = (widths) =>
    el(
      "colgroup",
      {},
      widths.map((width) => el("col", { style: width ? { width } : {} })),
    );

  const table = () => {
    const span = state.split ? 4 : 3;
    const rows = [];
    for (const row of data.rows) {
      if (row.kind === "gap") {
        rows.push(
          el(
            "tr",
            { class: "gap" },
            el("td", { colspan: span }, `${row.count} unchanged line${row.count === 1 ? "" : "s"}`),
          ),
        );
        continue;
      }
      const minus = row.kind === "changed" || row.kind === "removed",
        plus = row.kind === "changed" || row.kind === "added";
      if (state.split) {
        rows.push(
          el(
            "tr",
            {},
            number(row.left),
            fill(el("td", { class: row.left ? (minus ? "minus" : "") : "void" }), row.before),
            number(row.right),
            fill(el("td", { class: row.right ? (plus ? "plus" : "") : "void" }), row.after),
          ),
        );
      } else if (row.kind === "equal")
        rows.push(el("tr", {}, number(row.left), number(row.right), fill(el("td"), row.before)));
      else {
        if (minus)
          rows.push(el("tr", {}, number(row.left), number(""), fill(el("td", { class: "minus" }), row.before)));
        if (plus) rows.push(el("tr", {}, number(""), number(row.right), fill(el("td", { class: "plus" }), row.after)));
      }
    }
    const head = state.split
      ? el("tr", { class: "head" }, el("td", { colspan: 2 }, data.left), el("td", { colspan: 2 }, data.right))
      : el("tr", { class: "head" }, el("td", { colspan: 3 }, `${data.left} → ${data.right}`));
    return el("table", {}, columns(state.split ? ["46px", "", "46px", ""] : ["46px", "46px", ""]), head, rows);
  };

  const draw = () => {
    const fields = data.fields.length
      ? el(
          "table",
          { class: "fields" },
          data.fields.map((field) =>
            el(
              "tr",
              {},
              el("td", { class: "name" }, field.name.replaceAll("_", " ")),
              fill(el("td", { class: "minus" }), [[false, field.before || "–"]]),
              fill(el("td", { class: "plus" }), [[false, field.after || "–"]]),
            ),
          ),
        )
      : null;
    root.replaceChildren(
      el(
        "div",
        { class: "tools" },
        el("span", { class: "muted small" }, data.summary),
        el("span", { class: "spring" }),
        button(
          "Side by side",
          () => {
            state.split = true;
            draw();
          },
          { pressed: state.split ? "true" : "false" },
        ),
        button(
          "Inline",
          () => {
            state.split = false;
            draw();
          },
          { pressed: state.split ? "false" : "true" },
        ),
      ),
      fields || "",
      el(
        "div",
        { class: "frame" },
        data.rows.length && data.rows.some((row) => row.kind !== "gap")
          ? table()
          : el(
              "div",
              { class: "same" },
              data.fields.length ? "The text itself did not change." : "These two versions are the same.",
            ),
      ),
    );
  };
  draw();
}
