export type Language = "js" | "python" | "go" | "java" | "rust" | "yaml" | "shell";

/** A run of text of one kind. Kinds have the colours of values in entries. */
export interface Run {
  text: string;
  kind: "comment" | "string" | "number" | "word" | "key" | null;
}

const SLASHES = String.raw`\/\/.*`;
const HASH = String.raw`(?<!\S)#.*`;
const QUOTED = String.raw`"(?:\\.|[^"\\])*"`;
const SINGLE = String.raw`'(?:\\.|[^'\\])*'`;
const TICKED = "`[^`]*`";
const NUMBER = String.raw`(?<![\w.-])\d+(?:\.\d+)?(?![\w.])`;

const words = (list: string): string => String.raw`(?<![\w.])(?:${list.replaceAll(" ", "|")})(?!\w)`;

/** The rules of a language in order of precedence, as one pattern with a named group for each kind. */
function pattern(rules: Partial<Record<Exclude<Run["kind"], null>, readonly string[]>>): RegExp {
  const groups = Object.entries(rules).map(([kind, parts]) => `(?<${kind}>${parts.join("|")})`);
  return new RegExp(groups.join("|"), "gm");
}

/** Enough for the programs of `examples/start` and configurations in YAML; not complete for any language. */
const PATTERNS: Readonly<Record<Language, RegExp>> = {
  js: pattern({
    comment: [SLASHES],
    string: [QUOTED, SINGLE, TICKED],
    number: [NUMBER],
    word: [words("const let import from export await async function return new if else for of true false null")],
  }),
  python: pattern({
    comment: [HASH],
    string: [QUOTED, SINGLE],
    number: [NUMBER],
    word: [words("import from as with def return if else for in not and or True False None")],
  }),
  go: pattern({
    comment: [SLASHES],
    string: [QUOTED, TICKED],
    number: [NUMBER],
    word: [words("package import func return if else for range defer var const type struct nil true false")],
  }),
  java: pattern({
    comment: [SLASHES],
    string: [QUOTED],
    number: [NUMBER],
    word: [words("import public static void class throws new var return if else for null true false")],
  }),
  rust: pattern({
    comment: [SLASHES],
    string: ['r#".*?"#', QUOTED],
    number: [NUMBER],
    word: [words("use fn let mut pub struct impl match return if else for in true false")],
  }),
  yaml: pattern({
    comment: [HASH],
    key: [String.raw`(?<=^[ -]*|[{,] *)[\w.-]+(?=:(?:\s|$))`],
    string: [QUOTED, SINGLE],
    number: [NUMBER],
    word: [words("true false null on off")],
  }),
  shell: pattern({
    comment: [HASH],
    string: [QUOTED, SINGLE],
    key: [String.raw`(?<![\w-])[A-Z][A-Z0-9_]*(?==)`],
    word: [words("export curl java")],
  }),
};

/** Splits a program into runs, whose texts make the program again. */
export function highlighted(text: string, language: Language): Run[] {
  const runs: Run[] = [];
  let end = 0;
  for (const { 0: found, index, groups = {} } of text.matchAll(PATTERNS[language])) {
    if (index > end) runs.push({ text: text.slice(end, index), kind: null });
    runs.push({ text: found, kind: kindOf(groups) });
    end = index + found.length;
  }
  if (end < text.length) runs.push({ text: text.slice(end), kind: null });
  return runs;
}

const KINDS = ["comment", "string", "number", "word", "key"] as const;

function kindOf(groups: Readonly<Record<string, string | undefined>>): Run["kind"] {
  return KINDS.find((kind) => groups[kind] !== undefined) ?? null;
}
