import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { formatRefusal } from "../../src/cli/api.ts";
import { inserted, SHELLS, scriptOf, wordsOf } from "../../src/cli/completion.ts";
import { csvLines, entryCsv } from "../../src/cli/csv.ts";
import { search } from "../../src/cli/search.ts";
import { sparkLines } from "../../src/cli/sparkline.ts";
import { readTable, tableLines } from "../../src/cli/table.ts";
import { formatTime, timeZone } from "../../src/cli/time.ts";

const refusal = (position: number, suggestion?: string) => ({
  status: 400,
  code: "VALIDATION_ERROR",
  message: "query: Unknown function `p9`.",
  details: [{ path: "query", message: "Unknown function `p9`.", position, ...(suggestion ? { suggestion } : {}) }],
  wait: null,
});

describe("errors of a query", () => {
  test("have a caret under the place, and what may be meant", () => {
    expect(formatRefusal(refusal(20, "p90"), "level:error | stats p9(ms)")).toBe(
      [
        "Unknown function `p9`. (400 VALIDATION_ERROR)",
        "  level:error | stats p9(ms)",
        "                      ^",
        "  Did you mean `p90`?",
      ].join("\n"),
    );
  });

  test("count characters, escape controls, show one line of several and a part of a long one", () => {
    expect(formatRefusal(refusal(5), "😀 a:x").split("\n").slice(1)).toEqual(["  😀 a:x", "      ^"]);
    expect(formatRefusal(refusal(2), "\u001bax").split("\n").slice(1)).toEqual(["  \\u001bax", "         ^"]);
    expect(formatRefusal(refusal(12), "level:error\n| stats x").split("\n").slice(1)).toEqual(["  | stats x", "  ^"]);
    const [, line = "", caret = ""] = formatRefusal(refusal(500), "y".repeat(1000)).split("\n");
    expect([line.length, caret.indexOf("^")]).toEqual([122, 62]);
  });

  test("name a suggestion once", () => {
    const { details, ...rest } = refusal(20, "p90");
    const told = details.map((detail) => ({ ...detail, message: "Unknown function `p9`. Did you mean `p90`?" }));
    expect(formatRefusal({ ...rest, details: told }, "level:error | stats p9(ms)").match(/Did you mean/g)).toHaveLength(
      1,
    );
  });

  test("are as before without a query or a position", () => {
    expect(formatRefusal(refusal(20), null)).toBe("query: Unknown function `p9`. (400 VALIDATION_ERROR)");
    expect(formatRefusal({ ...refusal(0), details: [] }, "x")).toBe(
      "query: Unknown function `p9`. (400 VALIDATION_ERROR)",
    );
  });
});

const answer = {
  columns: [
    { name: "route", type: "string" },
    { name: "time", type: "time" },
    { name: "count", type: "number" },
  ],
  rows: [
    ["/a", "2026-11-22T10:00:00.000Z", 4],
    ["/a", "2026-11-22T10:15:00.000Z", 8],
    ['say "hi", 你', "2026-11-22T10:05:00.000Z", 1],
    [null, "2026-11-22T10:00:00.000Z", 0],
  ],
};

describe("tables", () => {
  test("are aligned by the columns that a terminal shows, with times as entries have them and their zone", () => {
    const width = Math.max(23, `time (${timeZone()})`.length);
    const at = (minute: string) => formatTime(`2026-11-22T10:${minute}:00.000Z`).padEnd(width);
    expect(tableLines(readTable(answer), false, false)).toEqual([
      `route         ${`time (${timeZone()})`.padEnd(width)}  count`,
      `/a            ${at("00")}      4`,
      `/a            ${at("15")}      8`,
      `say "hi", 你  ${at("05")}      1`,
      `-             ${at("00")}      0`,
    ]);
    expect(tableLines(readTable(answer), true, false)[0]).toContain('"time":"2026-11-22T10:00:00.000Z"');
  });

  test("are CSV with quotes where they are needed", () => {
    expect(csvLines(readTable(answer))).toEqual([
      "route,time,count",
      "/a,2026-11-22T10:00:00.000Z,4",
      "/a,2026-11-22T10:15:00.000Z,8",
      '"say ""hi"", 你",2026-11-22T10:05:00.000Z,1',
      ",2026-11-22T10:00:00.000Z,0",
    ]);
    const entry = {
      seq: 1,
      timestamp: "t",
      level: "info",
      category: "c",
      type: "y",
      message: "a,b",
      data: { n: [1] },
      host: "h",
    };
    expect([entryCsv(null), entryCsv(entry)]).toEqual([
      "timestamp,level,category,type,message,session,traceId,data,service,host",
      't,info,c,y,"a,b",,,"{""n"":[1]}",,h',
    ]);
  });

  test("are CSV without control characters", () => {
    const columns = [{ name: "text", type: "string" }];
    const rows = [["=1+1"], ["+1"], ["-x"], ["@a"], ["a=b"], [-5], ["\u001b]0;x\u0007"], ["a\nb"]];
    expect(csvLines({ columns, rows })).toEqual([
      ...["text", "=1+1", "+1", "-x", "@a", "a=b", "-5", "\\u001b]0;x\\u0007", '"a\nb"'],
    ]);
  });

  test("over spans of time have a line of bars for each group, highest first, with gaps where a span has no row", () => {
    const lines = sparkLines(readTable(answer), 300_000, false);
    expect(lines.slice(1, -1)).toEqual([
      "/a  count            ▄  █  to 8",
      'say "hi", 你  count   █    to 1',
      "-  count             ▁     to 0",
    ]);
  });

  test("over spans of time have the lines of a group in the order of the columns, under the zone of their range", () => {
    const columns = [
      { name: "count()", type: "number" },
      { name: "time", type: "time" },
      { name: "route", type: "string" },
      { name: "p99(ms)", type: "number" },
    ];
    const rows = [
      [3, "2026-11-22T10:00:00.000Z", "/a", 900],
      [7, "2026-11-22T10:05:00.000Z", "/b", 20],
    ];
    const [range = "", ...lines] = sparkLines({ columns, rows }, 300_000, false);
    expect(range.endsWith(` (${timeZone()})`)).toBe(true);
    expect(lines.map((line) => line.replace(/ +[▁-█].*/, ""))).toEqual([
      "/b  count()",
      "/b  p99(ms)",
      "/a  count()",
      "/a  p99(ms)",
      "",
    ]);
  });

  test("B: a line of bars fits a terminal, however many spans there are", () => {
    const rows = Array.from({ length: 1440 }, (_, n) => [new Date(n * 60_000).toISOString(), n]);
    const columns = [
      { name: "time", type: "time" },
      { name: "count", type: "number" },
    ];
    const [, line = ""] = sparkLines({ columns, rows }, 60_000, false);
    expect(line).toMatch(/^count {2}▁.*█ {2}to 1,439$/);
    expect([...line].filter((char) => /[▁-█]/.test(char))).toHaveLength(60);
    expect(sparkLines({ columns, rows }, null, false)).toEqual([]);
  });
});

describe("what a search prints", () => {
  /** Runs a search on a service that answers `data`, as on a terminal. */
  async function searched(query: string, data: object): Promise<{ out: string; err: string; asked: unknown }> {
    let asked: unknown;
    const server = createServer(async (request, response) => {
      asked = JSON.parse(Buffer.concat(await request.toArray()).toString());
      const meta = { timestamp: new Date().toISOString(), requestId: "req_x" };
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ success: true, data, error: null, meta }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("No port.");
    const streams = [new PassThrough(), new PassThrough()] as const;
    const [stdout, stderr] = streams;
    const io = {
      stdin: new PassThrough(),
      stdout: Object.assign(stdout, { isTTY: true }),
      stderr,
      env: {},
      now: () => 0,
      random: () => 0,
      stop: new AbortController().signal,
    };
    const service = { url: `http://127.0.0.1:${address.port}`, key: "sk_x" };
    const plain = {
      project: null,
      isKeyVisible: false,
      json: false,
      colors: false,
      from: null,
      to: null,
      csv: false,
      asOf: null,
    };
    await search(io, { name: "search", service, query, maxRows: null, maxTokens: null, next: null, ...plain });
    const [out, err] = streams.map((stream) => String(stream.read() ?? ""));
    server.close();
    return { out: out ?? "", err: err ?? "", asked };
  }

  const found = { matched: 5, scanned: 9, complete: true, exact: true, notes: [], tookMs: 3, asOf: "1-x" };

  test("17: the times that were searched are named, and those of all times", async () => {
    const entries = { kind: "entries", logs: [], nextCursor: null, ...found };
    const rangeOf = async (range?: object) => (await searched("level:error", { ...entries, range })).err;
    expect(await rangeOf({ from: null, to: null })).toContain("5 entries matched, 9 scanned of all times, 3 ms");
    const from = "2026-11-22T00:00:00.000Z";
    expect(await rangeOf({ from, to: null })).toContain(`9 scanned from ${from}, 3 ms`);
    // A service of a version before.
    expect(await rangeOf()).toContain("9 scanned, 3 ms");
  });

  test("17: matches among the neighbours that `context` adds are marked", async () => {
    const logs = ["before", "found", "after"].map((message) => ({
      timestamp: "2026-11-22T00:00:00.000Z",
      level: "info",
      category: "a",
      type: "b",
      message,
    }));
    const entries = { kind: "entries", logs, nextCursor: null, ...found };
    const marksOf = async (answer: object) =>
      (await searched("found | context 1", answer)).out
        .trimEnd()
        .split("\n")
        .map((line) => line.slice(0, 2));
    expect(await marksOf({ ...entries, matches: [1] })).toEqual(["  ", "> ", "  "]);
    expect(new Set(await marksOf(entries))).not.toContain("> ");
  });

  test("17: as many entries and rows as the query says", async () => {
    const entries = { kind: "entries", logs: [], nextCursor: null, ...found };
    expect((await searched("a | limit 700", entries)).asked).toMatchObject({ limit: 700 });
    expect((await searched("a | limit 7000 | where b:c", entries)).asked).toMatchObject({ limit: 1000 });
    expect((await searched("a", entries)).asked).toMatchObject({ limit: 100 });
    const columns = [{ name: "n", type: "number" }];
    const table = { kind: "table", columns, rows: Array.from({ length: 150 }, (_, n) => [n]), ...found };
    const linesOf = async (query: string) => (await searched(query, table)).out.trim().split("\n").length - 1;
    expect(await linesOf("a | top 150 by n")).toBe(150);
    expect(await linesOf("a | count by n | sort n | limit 120")).toBe(120);
    expect(await linesOf("a | count by n")).toBe(100);
  });
});

describe("completion", () => {
  test("reads words as shells do", () => {
    const texts = (line: string) => wordsOf(line).map(({ text }) => text);
    expect(texts("taffrail search 'level:error sta")).toEqual(["taffrail", "search", "level:error sta"]);
    expect(texts('taffrail search "a \\"b\\" c')).toEqual(["taffrail", "search", 'a "b" c']);
    expect(texts("taffrail  tail ")).toEqual(["taffrail", "tail", ""]);
    expect(texts("a b\\ c")).toEqual(["a", "b c"]);
    expect(wordsOf("x 'a b").at(-1)).toMatchObject({ quote: "'", raw: "'a b" });
  });

  test.each([
    // bash keeps an open quote, and replaces only what follows its last word break.
    ["bash", "taffrail search 'level:er", ["level:error"]],
    ["bash", "taffrail search level:er", ["error"]],
    ["bash", "taffrail se", ["search"]],
    ["zsh", "taffrail search 'level:er", ["'level:error"]],
    ["zsh", "taffrail search level:er", ["level:error"]],
    ["fish", "taffrail search 'level:er", ["level:error"]],
  ] as const)("inserts in %s after %s", (shell, line, expected) => {
    const word = wordsOf(line).at(-1);
    if (word === undefined) throw new Error("no word");
    expect(inserted(shell, word, [word.text.startsWith("se") ? "search" : "level:error"])).toEqual(expected);
  });

  test("quotes what a shell would interpret", () => {
    const word = { text: "", raw: "", quote: "" } as const;
    expect(inserted("zsh", word, ['route:"/a b"', "status:500"])).toEqual([`'route:"/a b"`, "status:500"]);
    expect(inserted("bash", { ...word, quote: "'" }, ["it's"])).toEqual(["it'\\''s"]);
    expect(inserted("bash", { ...word, quote: '"' }, ['a"b$c'])).toEqual(['a\\"b\\$c']);
  });

  test("17: bash takes a completion with a wildcard as it is, whatever files there are", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "taffrail-"));
    try {
      for (const name of ["route:a", "route:b", "x y"]) writeFileSync(path.join(folder, name), "");
      const script = [
        "taffrail() { printf '%s\\n' 'route:*' '* | count' \"it's\"; }",
        scriptOf("bash"),
        `COMP_LINE='taffrail search ro' COMP_POINT=18`,
        "_taffrail",
        `printf '<%s>' "\${COMPREPLY[@]}"`,
      ].join("\n");
      const printed = execFileSync("bash", ["-c", script], { cwd: folder, encoding: "utf8" });
      expect(printed).toBe("<route:*><* | count><it's>");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("every shell has a script that calls the program", () => {
    for (const shell of SHELLS) expect(scriptOf(shell)).toContain(`taffrail complete ${shell}`);
  });
});
