import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { lexer, type MarkedToken, walkTokens } from "marked";
import { describe, expect, test } from "vitest";
import { anchorIn, anchorsOf, consolePath } from "../../../web/src/pages/docs/links.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const BASE = "https://logs.example";

describe("links of documents", () => {
  test.each([
    ["limits.md", "/docs/limits.md"],
    ["limits.md#rules", "/docs/limits.md#rules"],
    ["#rules", "#rules"],
    ["doors/otlp.md", "/docs/doors/otlp.md"],
    ["../README.md", null],
    ["../src/worker.ts", null],
    ["screens/explorer.png", null],
    ["/docs", "/docs"],
  ])("%s in a document leads to %s", (href, expected) => {
    expect(consolePath(href, `${BASE}/docs/logs.md`)).toBe(expected);
  });

  test("a heading has the name that GitHub gives it, each once", () => {
    const anchorOf = anchorsOf();
    expect(["Send & search", "`level` and *type*", "Send & search", "[Views](views.md) of a_b"].map(anchorOf)).toEqual([
      "send--search",
      "level-and-type",
      "send--search-1",
      "views-of-a_b",
    ]);
  });

  test("lead to headings that exist, in all documents", () => {
    const anchors = new Map<string, Set<string>>();
    const links: [from: string, to: string][] = [];
    for (const file of globSync("docs/**/*.md", { cwd: ROOT })) {
      const at = `/${file.replaceAll(path.sep, "/")}`;
      const anchorOf = anchorsOf();
      const names = new Set<string>();
      anchors.set(at, names);
      // SAFETY: without extensions the lexer makes no other tokens.
      walkTokens(lexer(readFileSync(path.join(ROOT, file), "utf8")) as MarkedToken[], (token) => {
        if (token.type === "heading") names.add(anchorOf(token.text));
        const mark = token.type === "html" ? anchorIn(token.text) : null;
        if (mark !== null) names.add(mark);
        if (token.type === "link" && !token.href.startsWith("http")) {
          const to = consolePath(token.href, BASE + at);
          if (to !== null) links.push([at, to.startsWith("#") ? at + to : to]);
        }
      });
    }
    expect(links.length).toBeGreaterThan(100);
    const broken = links.filter(([, to]) => {
      const [file = "", anchor] = to.split("#");
      const names = anchors.get(file);
      return file !== "/docs" && (names === undefined || (anchor !== undefined && !names.has(anchor)));
    });
    expect(broken).toEqual([]);
  });
});
