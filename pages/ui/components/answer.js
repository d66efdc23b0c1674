// The answer above the hits. It is asked for by a button, or where somebody wants it always once a question is settled;
// hits never wait for it.
const ALWAYS = "concord-answers"; // in the browser's own storage

function answerBlock(root, state) {
  state.answerBox = el("section.answer", { "aria-label": "Answer", "aria-live": "polite" });
  fillAnswer(root, state);
  return state.answerBox;
}

function fillAnswer(root, state) {
  const key = parameters(state.asked);
  const { value } = state.answer?.key === key ? state.answer : {};
  const isAsking = state.answer?.key === key && !value;
  const parts = value ? answered(root, state, value) : isAsking ? [reading()] : [offer(root, state)];
  state.answerBox.replaceChildren(...parts);
}

const reading = () => el("p.muted.reading", { role: "status" }, "Reading the passages …");

function offer(root, state) {
  return el(
    "div.row",
    button("Answer from these passages", () => askForAnswer(root, state), { kind: "outline", key: "answer" }),
    always(root, state),
  );
}

// Whether every settled question is answered, for this browser.
function always(root, state) {
  const keep = (event) => {
    remember(event.target.checked);
    if (event.target.checked) askForAnswer(root, state);
  };
  const box = el("input", { type: "checkbox", checked: wantsAnswers(), "data-key": "always", onchange: keep });
  return el("label.muted.small.always", box, "Always answer");
}

function wantsAnswers() {
  try {
    return window.localStorage.getItem(ALWAYS) === "always";
  } catch {
    return false; // storage is blocked
  }
}

function remember(isWanted) {
  try {
    window.localStorage.setItem(ALWAYS, isWanted ? "always" : "");
  } catch {
    // it lasts as long as the page
  }
}

const answerIfWanted = (root, state) => {
  const { answers, found } = state;
  if (answers && found?.fits && found.groups?.length && wantsAnswers()) askForAnswer(root, state);
};

async function askForAnswer(root, state) {
  const key = parameters(state.asked);
  if (state.answer?.key === key && !state.answer.value?.error) return;
  state.answer = { key };
  fillAnswer(root, state);
  const { value, error } = await api(`answer?${answerParameters(state.asked)}`, state.direct);
  if (state.answer.key !== key) return;
  state.answer = { key, value: error ? { error } : drawn(value) };
  if (parameters(state.asked) === key) fillAnswer(root, state);
}

const FILTERS = {
  types: "type",
  statuses: "status",
  freshness: "freshness",
  folders: "folder",
  owners: "owner",
  tags: "tag",
}; // of the page, as the API calls them

function answerParameters({ q, as_of, filters }) {
  const parts = new URLSearchParams(as_of ? { q, as_of } : { q });
  for (const [facet, values] of Object.entries(filters || {}))
    for (const value of values) parts.append(FILTERS[facet], value);
  return parts;
}

// What the API answered, with the cited passages as links and who wrote it.
function drawn(value) {
  const cited = new Set(value.sentences.flatMap(({ citations }) => citations));
  const sources = value.passages
    .filter(({ number }) => cited.has(number))
    .map((passage) => [passage.number, source(passage, value)]);
  return { ...value, sources: Object.fromEntries(sources), note: note(value) };
}

function source({ title, heading, doc, start, end, version }, { as_of, commit }) {
  const place = { doc, start, end, version, ...(as_of && { as_of: commit.slice(0, 12) }) };
  return { label: [title, ...heading.slice(-1)].join(" › "), about: `version ${version}`, place };
}

function note({ extract, sentences, model }) {
  if (extract) return "Word for word from the passage that fits best; it may not answer the question.";
  if (!sentences.length) return model ? "The passages below are the nearest there are." : "";
  const name = model.slice(model.indexOf(":") + 1) || model;
  return `Written by ${name}. Its words were checked against the passages.`;
}

// ------------------------------------------------------------ what was answered

function answered(root, state, value) {
  if (value.error)
    return [
      el("p", { role: "alert" }, `No answer could be written. ${value.error}`),
      button("Try again", () => askForAnswer(root, state), { kind: "outline", key: "answer" }),
    ];
  return [
    value.sentences.length ? sentences(value) : el("p.said", value.text),
    value.sentences.length ? sources(value) : null,
    value.withheld.length ? withheld(state, value.withheld) : null,
    el("div.row.muted.small", el("span", value.note), always(root, state)),
  ].filter(Boolean);
}

const citation = ({ label, place }, number) =>
  inside({ class: "cite", title: label, "aria-label": `Passage ${number}: ${label}` }, documentHref(place), number);

const sentences = ({ sentences, sources, extract }) =>
  el(
    extract ? "blockquote" : "p",
    { class: "said" },
    sentences.map(({ text, citations }) => [
      el("span", text),
      citations.map((number) => citation(sources[number], number)),
      " ",
    ]),
  );

const sources = ({ sources }) =>
  el(
    "ol.sources.small",
    Object.entries(sources).map(([number, source]) =>
      el(
        "li",
        el("span.muted", number),
        inside({ "data-key": `source${number}` }, documentHref(source.place), source.label),
        el("span.muted", source.about),
      ),
    ),
  );

// It stays open when the page is drawn again.
function withheld(state, kept) {
  const list = el(
    "details.withheld.small",
    { ontoggle: (event) => (state.open.withheld = event.target.open) },
    el(
      "summary",
      kept.length === 1
        ? "Withheld: 1 sentence that its passages do not bear out"
        : `Withheld: ${kept.length} sentences that their passages do not bear out`,
    ),
    el("ul", ...kept.map(({ text, why }) => el("li", text, el("span.muted", ` Withheld: ${why}.`)))),
  );
  list.open = Boolean(state.open.withheld);
  return list;
}
