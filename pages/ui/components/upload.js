const STATES = {
  ready: ["Ready", "good"],
  "needs attention": ["Look at it", "warn"],
  refused: ["Refused", "bad"],
  waits: ["Choose", "warn"],
  dropped: ["Dropped", ""],
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const row = (item) => {
    const [text, tone] = STATES[item.state] || STATES.ready;
    const open = () => setTriggerValue("open", item.n);
    return el(
      "button",
      {
        type: "button",
        class: `line${item.n === data.open ? " open" : ""}${item.state === "dropped" ? " dropped" : ""}`,
        "aria-pressed": item.n === data.open ? "true" : "false",
        onclick: open,
      },
      el("span", { class: "state" }, badge({ text, tone })),
      el(
        "span",
        { class: "what" },
        el("span", { class: "title" }, item.title),
        el("span", { class: "path" }, item.path),
      ),
      el("span", { class: "why" }, item.why),
      el("span", { class: "from muted small" }, item.from),
    );
  };
  root.replaceChildren(
    el("div", { class: "lines", role: "list", "aria-label": "Documents of this upload" }, data.items.map(row)),
  );
}
