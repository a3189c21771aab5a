/** Reads the parts of docs/query-language.md that the console shows, so that they are written once. */

/** A piece of a line of text. */
export interface Inline {
  kind: "text" | "code" | "strong";
  text: string;
}

/** An example with its explanation. */
export interface Example {
  text: readonly Inline[];
  queries: readonly string[];
}

/** A row of the reference: what is written, and what it finds. */
export type Rule = readonly [write: readonly Inline[], finds: readonly Inline[]];

/** Returns the examples of the tour, in their order. */
export function examplesOf(document: string): Example[] {
  const tour = sectionOf(document, "Ten examples");
  return tour.split(/\n(?=\*\*\d+\. )/).flatMap((part) => {
    if (!/^\*\*\d+\. /.test(part)) return [];
    const queries = [...part.matchAll(/```query\n([\s\S]*?)\n```/g)].map(([, query = ""]) => query);
    // What follows the last query is about the next part of the document.
    const text = part.slice(0, part.indexOf("```")).replaceAll(/\s+/g, " ").trim();
    return [{ text: inlineOf(text.replace(/^\*\*\d+\. /, "**")), queries }];
  });
}

/** Returns the table of filters. */
export function rulesOf(document: string): Rule[] {
  const table = sectionOf(document, "Filters")
    .split("\n\n")
    .find((block) => block.trimStart().startsWith("| "));
  const rows = (table ?? "").split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(1).map((row): Rule => {
    const [write = "", finds = ""] = row.slice(2, -2).split(/(?<!\\) \| /);
    return [inlineOf(write), inlineOf(finds)];
  });
}

function sectionOf(document: string, title: string): string {
  const [, section = ""] = document.split(`\n## ${title}\n`);
  return section.split("\n## ", 1)[0] ?? "";
}

/** Reads code, strong text and links, whose text alone stays. */
function inlineOf(text: string): Inline[] {
  const plain = text.replaceAll("\\|", "|");
  return plain.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).flatMap((part): Inline[] => {
    if (part === "") return [];
    if (part.startsWith("`")) return [{ kind: "code", text: part.slice(1, -1) }];
    if (/^\*\*.+\*\*$/.test(part)) return [{ kind: "strong", text: part.slice(2, -2) }];
    const [, link] = /^\[([^\]]+)\]\(/.exec(part) ?? [];
    return [{ kind: "text", text: link ?? part }];
  });
}
