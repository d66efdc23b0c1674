// The documents of an upload, one row each; a click opens one.
const STATES = {
  ready: ["Ready", "good"],
  "needs attention": ["Look at it", "warn"],
  refused: ["Refused", "bad"],
  waits: ["Choose", "warn"],
  dropped: ["Dropped", ""],
};

export default function ({ data, parentElement, setTriggerValue }) {
  const open = (item) => setTriggerValue("open", item.n);
  const rows = data.items.map((item) => drawItem(item, item.n === data.open, () => open(item)));
  fill(parentElement, el("div.lines", { role: "group", "aria-label": "Documents of this upload" }, rows));
}

function drawItem(item, isOpen, open) {
  const [text, tone] = STATES[item.state] || STATES.ready;
  return el(
    "button",
    {
      class: `line${isOpen ? " open" : ""}${item.state === "dropped" ? " dropped" : ""}`,
      "aria-pressed": isOpen ? "true" : "false",
      onclick: open,
    },
    el("span.state", badge({ text, tone })),
    el("span.what", el("span.title", item.title), el("span.path", item.path)),
    el("span.why", item.why),
    el("span.from.muted.small", item.from),
  );
}
