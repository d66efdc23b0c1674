// Paths as chains: every entity is a stop on a line, and between two stops stand the passages that witness the step.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const send = (name, value) => setTriggerValue(name, { ...value, n: Date.now() });
  refocus(root, () =>
    root.replaceChildren(...data.paths.map((path, number) => card(path, number, data.paths.length, send))),
  );
}

function card(path, number, total, send) {
  const stops = path.nodes.flatMap((node, n) => [
    stop(node, send),
    n < path.steps.length ? step(path.steps[n], send) : null,
  ]);
  const line = el("div.chain", { role: "list" }, stops);
  if (total === 1) return el("div.card", line);
  const details = el("details.card", el("summary", overview(path)), line);
  details.open = number === 0;
  return details;
}

const overview = (path) =>
  path.nodes.flatMap((node, n) => [n ? el("span.arrow", "→") : null, el("span.name", node.label)]);

function stop(node, send) {
  const look = button("Look around it", () => send("centre", { id: node.id, label: node.label }), {
    title: `Look around ${node.label}`,
    key: `centre ${node.id}`,
  });
  return el(
    "div.row.stop",
    { role: "listitem" },
    el("span", { class: `mark ${node.kind}` }),
    el("strong", node.label),
    el("span.muted.small", node.about),
    look,
  );
}

function step({ relation, count, witnesses, more }, send) {
  return el(
    "div.step",
    { role: "listitem" },
    el("div.relation", relation, el("span.muted", ` · ${count}`)),
    witnesses.map((witness) => passage(witness, send)),
    more > 0 ? el("div.muted.small", `${more} more ${more === 1 ? "passage names" : "passages name"} both`) : null,
  );
}

function passage({ title, quote, place }, send) {
  return el(
    "div.witness",
    quote ? el("div.quote", `“${quote}”`) : null,
    inside({ class: "small" }, documentHref(place), title),
  );
}
