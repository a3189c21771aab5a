/**
 * Writes the API reference as Markdown: a page for each entry point of the package. The argument says where to write.
 * Plain JavaScript: TypeDoc is installed beside this file only.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { Application, Comment, Converter, ReflectionKind } from "typedoc";

const HERE = import.meta.dirname;
const SDK = path.resolve(HERE, "../..");
const { exports } = JSON.parse(readFileSync(path.join(SDK, "package.json"), "utf8"));

/** Sources by the name that an application imports. */
const entries = Object.entries(exports).flatMap(([name, target]) => {
  const types = target.import?.types;
  if (!types) return [];
  const source = path.join(SDK, types.replace("./dist/", "src/").replace(/\.d\.mts$/, ".ts"));
  return [{ name: path.posix.join("taffrail", name), source }];
});

const app = await Application.bootstrapWithPlugins({
  plugin: ["typedoc-plugin-markdown", "typedoc-plugin-missing-exports"],
  entryPoints: entries.map(({ source }) => source),
  // Only the sources, because tests add categories.
  tsconfig: path.join(HERE, "tsconfig.json"),
  out: process.argv[2],
  name: "API reference",
  readme: "none",
  // No links to source lines, which change often.
  disableSources: true,
  disableGit: true,
  excludePrivate: true,
  excludeExternals: true,
  sort: ["kind", "source-order"],
  sortEntryPoints: false,
  logLevel: "Warn",
  // Documents unexported types that exported ones use beside them.
  placeInternalsInOwningModule: true,
  outputFileStrategy: "modules",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  flattenOutputFiles: true,
  useCodeBlocks: true,
  expandObjects: true,
  expandParameters: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  typeDeclarationFormat: "table",
  propertyMembersFormat: "table",
  entryFileName: "README.md",
});

app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
  const modules = project.children ?? [];
  // TypeDoc names modules by their files; the pages use the names that applications import.
  for (const module of modules) {
    module.name = entries.find(({ source }) => nameOf(source) === module.name)?.name ?? module.name;
  }
  for (const module of modules) {
    // One line for names that other entry points document, instead of a heading for each.
    const others = (module.children ?? []).filter(({ kind }) => kind === ReflectionKind.Reference);
    const names = Map.groupBy(others, (other) => other.getTargetReflectionDeep().parent);
    if (names.size === 0) continue;
    const text = [...names].map(
      ([home, list]) => `Also exports, of \`${home.name}\`: ${list.map(({ name }) => `\`${name}\``).join(", ")}.`,
    );
    module.comment = new Comment([{ kind: "text", text: text.join("\n\n") }]);
    for (const other of others) project.removeReflection(other);
  }
});

const project = await app.convert();
if (project) await app.generateOutputs(project);
// Warnings are errors in the sources or in this file.
if (!project || app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1);

/** Returns TypeDoc's module name of a source file. */
function nameOf(source) {
  return path.posix.relative(path.join(SDK, "src"), source.replace(/(\/index)?\.ts$/, "")) || "index";
}
