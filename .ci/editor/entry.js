// What the editor takes from CodeMirror. `markdown()` is left out: it would bring parsers of HTML, CSS and JavaScript along.
export { acceptCompletion, autocompletion, completionKeymap, startCompletion } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentLess, indentMore, redo, undo } from "@codemirror/commands";
export {
  deleteMarkupBackward,
  insertNewlineContinueMarkup,
  markdownLanguage,
  pasteURLAsLink,
} from "@codemirror/lang-markdown";
export { HighlightStyle, LanguageSupport, syntaxHighlighting, syntaxTree } from "@codemirror/language";
export { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
export { EditorSelection, EditorState, Prec } from "@codemirror/state";
export {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
export { tags } from "@lezer/highlight";
