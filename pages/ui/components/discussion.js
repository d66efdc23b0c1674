// What happened and what was said, in order, and a box to say more.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ unfolded: new Set(), typed: {}, sent: {}, replying: 0 }));
  const act = (what) => setTriggerValue("act", what);
  hear(state, data.heard);
  const event = (one) =>
    el(
      "div",
      { class: "event" },
      el("span", { class: `knot ${one.tone || ""}` }),
      el(
        "div",
        {},
        el("div", {}, el("strong", {}, one.name), " ", one.text, " ", el("span", { class: "muted small" }, one.when)),
        one.note ? el("div", { class: "said" }, prose(one.note)) : null,
      ),
    );
  root.replaceChildren(
    el(
      "div",
      { class: "timeline" },
      data.items.map((one) => (one.remarks ? conversation(state, one, data.may, act) : event(one))),
    ),
    data.may.comment
      ? el(
          "div",
          { class: "conversation" },
          composer(state, "whole", {
            hint: "Comment on the whole change",
            send: (body, n) => act({ do: "comment", path: "", line: 0, last: 0, body, n }),
          }),
        )
      : el("div", { class: "muted" }, data.closed),
  );
}
