// Bundles CodeMirror into one file, headed by the versions and the licence of what is in it.
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const packages = Object.entries(JSON.parse(read("package.json")).devDependencies).filter(([name]) => name[0] === "@");
const versions = packages.map(([name, version]) => `${name} ${version}`).join(", ");

await build({
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: ["entry.js"],
  outfile: "../../pages/ui/components/vendor/codemirror.js",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  banner: { js: `/*!\n${versions}\n\n${read("node_modules/@codemirror/state/LICENSE").trim()}\n*/` },
});
