// What a check found in a text: how bad, where, what.
const checkRow = ({ line, severity, message }) =>
  el(
    "div",
    {},
    severity === "error" ? badge({ text: "Error", tone: "bad" }) : badge({ text: "Fix", tone: "warn" }),
    el("span", { class: "muted" }, `Line ${line}`),
    el("span", {}, message),
  );
