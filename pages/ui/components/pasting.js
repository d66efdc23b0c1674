// What comes from the clipboard of a word processor, a web page or a spreadsheet, as Markdown.
const STRUCTURED =
  "h1, h2, h3, h4, h5, h6, li, table, b, strong, em, i, a[href], blockquote, pre, code, p[class^=MsoList]";
const SILENT = new Set(["SCRIPT", "STYLE", "TITLE", "META", "TEMPLATE", "HEAD", "NOSCRIPT", "IFRAME", "OBJECT"]);
const PASTED_BLOCKS = new Set(["P", "DIV", "SECTION", "ARTICLE", "MAIN", "HEADER", "FOOTER", "BODY", "FIGURE"]);

// The Markdown for what is pasted; "" leaves it to the browser, which pastes the plain text.
function pastedMarkdown(clipboard) {
  const html = clipboard.getData("text/html");
  const page = html && new DOMParser().parseFromString(html, "text/html"); // inert: nothing runs, nothing loads
  if (page && page.body.querySelector(STRUCTURED)) return tidy(pastedBlock(page.body, ""));
  return tableFromTabs(clipboard.getData("text/plain"));
}

const tidy = (text) =>
  text
    .replace(/[ \t]+\n/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();

const pastedChildren = (node, indent) => [...node.childNodes].map((child) => pastedBlock(child, indent)).join("");

function pastedBlock(node, indent) {
  if (node.nodeType === 3) return node.data.replace(/\s+/g, " ");
  if (node.nodeType !== 1 || SILENT.has(node.tagName)) return "";
  const tag = node.tagName;
  const inside = () => pastedChildren(node, indent);
  if (/^H[1-6]$/.test(tag)) return `\n\n${"#".repeat(Number(tag[1]))} ${inside().replace(/\s+/g, " ").trim()}\n\n`;
  if (tag === "UL" || tag === "OL") return `\n${indent ? "" : "\n"}${pastedItems(node, indent)}${indent ? "" : "\n\n"}`;
  if (tag === "TABLE") return `\n\n${pastedTable(node)}\n\n`;
  if (tag === "PRE") return `\n\n\`\`\`\n${node.textContent.trimEnd()}\n\`\`\`\n\n`;
  if (tag === "BLOCKQUOTE") return `\n\n${tidy(inside()).replace(/^/gm, "> ")}\n\n`;
  if (tag === "P" && node.className.startsWith("MsoList")) return `\n${wordItem(node.textContent)}\n`;
  if (PASTED_BLOCKS.has(tag)) return `\n\n${inside()}\n\n`;
  return pastedInline(node, inside);
}

// Word writes list items as paragraphs that begin with their sign.
function wordItem(text) {
  const [, sign, words] = text.trim().match(/^([·•o§▪-]|\d+[.)])?\s*(.*)$/s);
  return `${/\d/.test(sign || "") ? sign : "-"} ${words.replace(/\s+/g, " ")}`;
}

function pastedInline(node, inside) {
  const tag = node.tagName;
  if (tag === "BR") return "\n";
  if (tag === "CODE") return `\`${node.textContent}\``;
  if (tag === "A") return pastedLink(node, inside());
  const plain = ["normal", "400"].includes(node.style.fontWeight);
  if ((tag === "B" || tag === "STRONG") && !plain) return marked(inside(), "**");
  if (tag === "I" || tag === "EM") return marked(inside(), "_");
  return inside();
}

// The marks go around the words, not around the space beside them.
const marked = (text, mark) =>
  text.trim() && !text.includes("\n") ? text.replace(/^(\s*)(.*?)(\s*)$/s, `$1${mark}$2${mark}$3`) : text;

function pastedLink(node, words) {
  const target = node.getAttribute("href") || "";
  return /^(https?|mailto):/i.test(target) && words.trim()
    ? `[${words.trim()}](${target.replace(/[()\s]/g, encodeURIComponent)})`
    : words;
}

function pastedItems(list, indent) {
  const items = [...list.children].filter((child) => child.tagName === "LI");
  return items
    .map((item, n) => {
      const sign = list.tagName === "OL" ? `${n + 1}.` : "-";
      const deeper = indent + " ".repeat(sign.length + 1);
      return `${indent}${sign} ${tidy(pastedChildren(item, deeper)).replace(/\n{2,}/g, "\n")}`;
    })
    .join("\n");
}

const pastedTable = (table) =>
  tableFromRows(
    [...table.querySelectorAll("tr")].map((row) => [...row.cells].map((cell) => tidy(pastedBlock(cell, "")))),
  );
