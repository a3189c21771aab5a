import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLogql } from "../../../src/logql/parse.ts";
import type { Stage } from "../../../src/logql/syntax.ts";
import { mayContain } from "../../../src/logs/cold/filter/bloom.ts";
import { tokensFor } from "../../../src/logs/cold/filter/token-tests.ts";
import { TOKEN_KIND } from "../../../src/logs/cold/filter/tokens.ts";
import { lineTokenTests } from "../../../src/logs/loki/line-tests.ts";
import { encodeFiles } from "../../../src/logs/segments/encode/encode-rows.ts";
import { slices } from "../cold/support.ts";
import type { TestEntry } from "../query/store.ts";
import { BEGIN, lokiEntryOfRow, lokiTestEntry } from "./entries.ts";

const PROJECT = "proj_000000000001";

function segmentOf(entries: readonly TestEntry[]) {
  const range = { firstSeq: 1, lastSeq: entries.length };
  const [file] = [...encodeFiles(PROJECT, slices([entries]), range, true)].filter((each) => each !== null);
  if (file === undefined) throw new Error("The entries are one file.");
  return file.row;
}

type Filtered = Pick<ReturnType<typeof segmentOf>, "filter" | "filterKinds">;

function mayHave({ filter, filterKinds }: Filtered, stages: readonly Stage[]): boolean {
  return lineTokenTests(stages).every(
    (each) => tokensFor(each, filterKinds)?.some(({ a, b }) => mayContain(filter, a, b)) ?? true,
  );
}

function stagesOf(pipeline: string): Stage[] {
  const parsed = parseLogql(`{level=~".+"} ${pipeline}`);
  if (parsed.kind !== "logs") throw new Error("It is a query for entries.");
  return parsed.stages;
}

const quoted = (source: string) => source.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

describe("tests of line filters", () => {
  test("leave every segment with a line that passes", () => {
    let decided = 0;
    fc.assert(
      fc.property(lokiTestEntry, fc.nat(), fc.integer({ min: 1, max: 30 }), (entry, from, length) => {
        const { line } = lokiEntryOfRow({ entry, projectId: PROJECT, seq: 1 });
        const characters = [...line];
        const start = from % Math.max(1, characters.length);
        const needle = characters.slice(start, start + length).join("");
        const segment = segmentOf([entry]);
        const pipelines = [
          ...[`|= ${JSON.stringify(needle)}`, `|= "zzzz" or ${JSON.stringify(needle)}`],
          ...[`|~ ${JSON.stringify(quoted(needle))}`, `|~ ${JSON.stringify(`zzzz|${quoted(needle)}`)}`],
          `| json | __error__=~".*" |~ ${JSON.stringify(`(?i)${quoted(needle.toLowerCase())}`)}`,
        ];
        for (const pipeline of pipelines) {
          const stages = stagesOf(pipeline);
          decided += lineTokenTests(stages).length;
          expect(mayHave(segment, stages), `${pipeline} of ${line}`).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
    expect(decided).toBeGreaterThan(400);
  });

  const segment = segmentOf([
    {
      ...{ timestamp: BEGIN, level: "info", category: "http", type: "request", message: "Connection refused by peer" },
      data: { status: 500, requestTimeout: 30, user: { plan: "gold" } },
    },
  ]);

  test.for([
    ["|= `refused`", "|= `accepted`"],
    ['|= `"requestTimeout":30`', '|= `"requestTimeup":30`'],
    ["|= `accepted` or `gold`", "|= `accepted` or `silver`"],
    ["|~ `refused|accepted`", "|~ `denied|accepted`"],
    ["|~ `(?i)CONNECTION \\\\w+`", "|~ `(?i)CORRECTION \\\\w+`"],
    ["| json | plan=`x` |= `refused`", "| json | plan=`x` |= `accepted`"],
    // Nothing is known of these.
    ["|= `message`", "|= `refused` |= `accepted`"],
    ["|= `ata`", "|= `1234` |= `silver`"],
    ["!= `accepted`", "!= `x` |= `silver`"],
    ["| line_format `{{.user}}` |= `accepted`", "|= `accepted` | line_format `{{.user}}`"],
    ["|~ `(accepted)`", "|~ `(x)accepted`"],
    ["|= `\\nrefused`", "|= `\\nrefuted`"],
  ])("%s leaves a segment that %s excludes", ([left = "", excluded = ""]) => {
    expect(mayHave(segment, stagesOf(left))).toBe(true);
    expect(mayHave(segment, stagesOf(excluded))).toBe(false);
  });

  test("exclude no segment of a version before, whose filters lack the names of members", () => {
    const before = { ...segment, filterKinds: segment.filterKinds & ~TOKEN_KIND.names };
    expect(mayHave(before, stagesOf("|= `accepted`"))).toBe(true);
  });
});
