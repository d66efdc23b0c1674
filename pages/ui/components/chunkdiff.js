// Which passages of each document a change adds, removes or changes.
export default function ({ data, parentElement }) {
  parentElement.querySelector("#root").replaceChildren(...data.documents.map(drawDocument));
}

const drawDocument = ({ title, summary, chunks }) =>
  el(
    "section",
    {},
    el("h2", {}, title),
    el("div", { class: "muted small" }, summary),
    el(
      "div",
      { class: "list" },
      chunks.map((chunk) => (chunk.count ? unchanged(chunk.count) : drawChunk(chunk))),
    ),
  );

const unchanged = (count) =>
  el("div", { class: "same" }, count === 1 ? "1 passage stays as it is" : `${count} passages stay as they are`);

const drawChunk = (chunk) =>
  el(
    "article",
    { class: `chunk ${chunk.kind}` },
    el(
      "div",
      { class: "row top" },
      badge({ text: chunk.word, tone: chunk.tone }),
      el("span", { class: "crumb" }, chunk.heading),
      el("span", { class: "muted small right" }, chunk.tokens),
    ),
    diffBlock("text", chunk.rows),
  );
