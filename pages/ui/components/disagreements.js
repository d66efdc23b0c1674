// Documents that say different things: both statements side by side, the words that differ marked.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ kind: "", state: "open" }));
  const toggle = (name, value) => () => {
    state[name] = state[name] === value ? "" : value;
    draw();
  };
  const count = (name, value) => data.rows.filter((row) => row[name] === value).length;
  const option = (name, value, label) =>
    count(name, value)
      ? button(`${label} ${count(name, value)}`, toggle(name, value), {
          key: `${name} ${value}`,
          pressed: state[name] === value ? "true" : "false",
        })
      : null;
  const draw = () => {
    const rows = data.rows.filter((row) =>
      ["kind", "state"].every((name) => !state[name] || row[name] === state[name]),
    );
    refocus(root, () =>
      root.replaceChildren(
        data.rows.length
          ? el(
              "div.filters",
              { role: "group", "aria-label": "Filters" },
              option("state", "open", "Open"),
              option("state", "settled", "Settled"),
              option("state", "dismissed", "Taken away by the model"),
              el("span.gap"),
              Object.entries(data.kinds).map(([kind, label]) => option("kind", kind, label)),
            )
          : "",
        rows.length
          ? el("ul.pairs", ...rows.map((row) => pair(row, data, setTriggerValue)))
          : nothing(data.rows.length ? "Nothing fits these filters." : "No documents disagree."),
      ),
    );
  };
  draw();
}

function pair(row, { kinds, may }, send) {
  const settled = row.state === "settled";
  const why = {
    settled: `Both are right: ${row.reason} (${row.by})`,
    dismissed: "A language model says both can be right",
  };
  return el(
    "li",
    { class: `pair ${row.state}` },
    el(
      "div.top",
      badge({ text: kinds[row.kind], tone: row.state === "open" ? "warn" : "" }),
      el("span.said", why[row.state] || ""),
      may && settled
        ? button("Reopen", () => send("reopen", row.key), { kind: "outline", key: `reopen ${row.key}` })
        : null,
      may && !settled
        ? button("Both are right", () => send("settle", row.key), {
            kind: "outline",
            key: `settle ${row.key}`,
            title: "Settle it with a reason",
          })
        : null,
    ),
    el("div.sides", side(row.mine), side(row.theirs)),
  );
}

const side = (statement) =>
  el(
    "div.side",
    inside({ class: "title" }, documentHref({ doc: statement.doc }), statement.title),
    el("div.sub", `${statement.owner} · ${statement.place}`),
    el("p.words", ...statement.marks.map(([differs, text]) => (differs ? el("mark", text) : text))),
  );
