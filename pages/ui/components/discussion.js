// The timeline of a change, oldest first, and a box for a comment.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, talkState);
  const act = (action) => setTriggerValue("act", action);
  state.people = data.people;
  hear(state, data.heard);
  const writer = () =>
    composer(state, "whole", {
      hint: "Comment on the whole change",
      send: (body, n) => act({ do: "comment", path: "", line: 0, last: 0, body, n }),
    });
  root.replaceChildren(
    el(
      "div.timeline",
      data.items.map((item) => (item.remarks ? conversation(state, item, data.may, act) : drawEvent(item))),
    ),
    data.may.comment ? el("div.conversation", writer()) : el("div.muted", data.closed),
  );
  followLinks(state, data.at, (at) => show(root, at));
}

const drawEvent = ({ name, text, when, tone, note, id }) =>
  el(
    "div.event",
    { id },
    el("span", { class: `knot ${tone || ""}` }),
    el(
      "div",
      el("div", el("strong", name), " ", text, " ", el("span.muted.small", when)),
      note ? el("div.said", prose(note)) : null,
    ),
  );
