// Which passages of each document a change adds, removes or changes.
export default function ({ data, parentElement }) {
  fill(parentElement, ...data.documents.map(drawDocument));
}

const drawDocument = ({ title, summary, chunks }) =>
  el(
    "section",
    el("h2", title),
    el("div.muted.small", summary),
    el("div.list", ...chunks.map((chunk) => (chunk.count ? unchanged(chunk.count) : drawChunk(chunk)))),
  );

const unchanged = (count) =>
  el("div.same", count === 1 ? "1 passage stays as it is" : `${count} passages stay as they are`);

const drawChunk = (chunk) =>
  el(
    "article",
    { class: `chunk ${chunk.kind}` },
    el(
      "div.row.top",
      badge({ text: chunk.word, tone: chunk.tone }),
      el("span.crumb", chunk.heading),
      el("span.muted.small.right", chunk.tokens),
    ),
    diffBlock(chunk.rows),
  );
