// Which passages of each document appear, vanish or change.
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("#root");
  const marked = (cell, marks) => {
    for (const [changed, text] of marks || []) cell.append(changed ? el("b", {}, text) : document.createTextNode(text));
    return cell;
  };
  const body = (rows) =>
    el(
      "div",
      { class: "text" },
      rows.flatMap((row) => [
        row.left ? marked(el("div", { class: row.kind === "equal" ? "" : "minus" }), row.before) : null,
        row.right && row.kind !== "equal" ? marked(el("div", { class: "plus" }), row.after) : null,
      ]),
    );
  const chunk = (one) =>
    el(
      "article",
      { class: `chunk ${one.kind}` },
      el(
        "div",
        { class: "row top" },
        badge({ text: one.word, tone: one.tone }),
        el("span", { class: "crumb" }, one.heading),
        el("span", { class: "muted small right" }, one.tokens),
      ),
      body(one.rows),
    );
  const same = (one) =>
    el(
      "div",
      { class: "same" },
      one.count === 1 ? "1 passage stays as it is" : `${one.count} passages stay as they are`,
    );
  root.replaceChildren(
    ...data.documents.map((one) =>
      el(
        "section",
        {},
        el("h4", {}, one.title),
        el("div", { class: "muted small" }, one.summary),
        el(
          "div",
          { class: "list" },
          one.chunks.map((each) => (each.count ? same(each) : chunk(each))),
        ),
      ),
    ),
  );
}
