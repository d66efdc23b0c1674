// The documents of a change as folders: what happened to each, what is to fix, what is talked about, what was viewed.

// Folders with their documents, in the order of paths; a folder with one folder and nothing else is drawn as one.
function folderTree(files) {
  const top = { name: "", folders: new Map(), files: [] };
  for (const file of files) {
    let folder = top;
    for (const name of file.path.split("/").slice(0, -1)) {
      if (!folder.folders.has(name)) folder.folders.set(name, { name, folders: new Map(), files: [] });
      folder = folder.folders.get(name);
    }
    folder.files.push(file);
  }
  return top;
}

function joined(folder) {
  const only = folder.folders.size === 1 && !folder.files.length ? [...folder.folders.values()][0] : null;
  return only ? joined({ ...only, name: `${folder.name}/${only.name}` }) : folder;
}

function drawFolder(folder, goTo) {
  return [
    [...folder.folders.values()].map((below) => {
      const shown = joined(below);
      return el("li", el("span.folder", `${shown.name}/`), el("ul", drawFolder(shown, goTo)));
    }),
    folder.files.map((file) => el("li", fileLink(file, goTo))),
  ];
}

function fileLink(file, goTo) {
  const name = file.path.split("/").at(-1);
  const talks = file.threads.filter((thread) => !thread.resolved).length;
  const says = [file.word, file.viewed ? "viewed" : "", ...findings(file), openTalks(talks)].filter(Boolean).join(", ");
  return actionLink(
    { class: `leaf${file.viewed ? " seen" : ""}`, title: `${file.path}: ${says}` },
    `#${encodeURIComponent(file.path)}`,
    () => goTo(file),
    el("span", { class: `sign ${file.kind}` }, file.sign),
    el("span.leafname", name),
    file.checks.length ? el("span.mark.fix", { "aria-label": findings(file).join(", ") }, file.checks.length) : null,
    talks ? el("span.mark.talks", { "aria-label": openTalks(talks) }, talks) : null,
    file.viewed ? el("span.mark", { "aria-label": "viewed" }, "✓") : null,
  );
}

const findings = (file) => file.badges.map(({ text }) => text);
const openTalks = (count) => (count ? `${count} open conversation${count === 1 ? "" : "s"}` : "");

// The box beside the documents: a filter by name, and the tree.
function documentTree(state, files, { goTo, filter }) {
  const input = el("input", {
    type: "search",
    class: "filter",
    placeholder: "Filter by name",
    "aria-label": "Filter documents by name",
    "data-key": "filter",
    oninput: (event) => filter(event.target.value),
  });
  input.value = state.filter;
  const shown = files.filter((file) => isShown(state, file));
  const viewed = files.filter((file) => file.viewed).length;
  const box = el(
    "details.tree",
    el("summary", `${files.length} documents`, el("span.muted", ` · ${viewed} viewed`)),
    input,
    el(
      "nav",
      { "aria-label": "Documents" },
      shown.length
        ? el("ul", drawFolder(folderTree(shown), goTo))
        : el("div.muted.small", "No document has this in its name."),
    ),
  );
  box.open = state.tree;
  box.addEventListener("toggle", () => {
    state.tree = box.open;
  });
  return box;
}

const isShown = (state, file) =>
  state.filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => `${file.path} ${file.title}`.toLowerCase().includes(word));
