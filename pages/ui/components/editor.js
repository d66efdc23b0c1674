// A text box and, beside it, what it will look like. What is typed goes to Python shortly after the last key.
export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ serial: null, timer: 0, sent: "" }));
  state.set = setStateValue;
  if (!state.area) {
    const send = () => {
      clearTimeout(state.timer);
      if (state.area.value !== state.sent) {
        state.sent = state.area.value;
        state.set("text", state.sent);
      }
    };
    state.area = el("textarea", {
      class: "write",
      "aria-label": "Text of the document",
      oninput: () => {
        clearTimeout(state.timer);
        state.timer = setTimeout(send, 450);
      },
      onblur: send,
      onscroll: () => {
        const room = state.area.scrollHeight - state.area.clientHeight,
          other = state.preview.scrollHeight - state.preview.clientHeight;
        if (room > 0) state.preview.scrollTop = (state.area.scrollTop / room) * other;
      },
    });
    state.area.spellcheck = true;
    state.preview = el("div", { class: "preview", "aria-label": "Preview" });
    state.checks = el("div", { class: "checks", "aria-label": "Checks", "aria-live": "polite" });
    state.note = el("span", { class: "muted small" });
    root.replaceChildren(
      el(
        "div",
        { class: "layout" },
        el("div", { class: "head" }, el("span", {}, "Text (Markdown)")),
        el("div", { class: "head" }, el("span", {}, "Preview"), state.note),
        state.area,
        state.preview,
      ),
      state.checks,
    );
  }
  if (state.serial !== data.serial) {
    state.serial = data.serial;
    state.area.value = data.text;
    state.sent = data.text;
  }
  state.note.textContent = data.note;
  state.checks.replaceChildren(
    ...(data.checks.length
      ? data.checks.map(([line, severity, message]) =>
          el(
            "div",
            {},
            badge({ text: severity === "error" ? "Error" : "Fix", tone: severity === "error" ? "bad" : "warn" }),
            el("span", { class: "muted" }, `Line ${line}`),
            el("span", {}, message),
          ),
        )
      : data.problem
        ? []
        : [el("span", { class: "muted" }, "✓ Every check passed.")]),
  );
  state.preview.replaceChildren(
    el("h1", {}, data.title),
    data.problem ? el("div", { class: "problem" }, data.problem) : "",
    prose(data.nodes),
  );
}
