import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { StartFailure } from "../scripts/lib/failure.ts";
import { ROOT } from "../scripts/lib/paths.ts";
import { mayContain } from "../src/logs/cold/filter/bloom.ts";
import { tokensFor, tokenTestsOf } from "../src/logs/cold/filter/token-tests.ts";
import { EXACT_KIND, TOKEN_KIND } from "../src/logs/cold/filter/tokens.ts";
import { readBlockIndex } from "../src/logs/cold/format/batch-table.ts";
import { BatchTable, decodeBlock } from "../src/logs/cold/format/decode.ts";
import type { DecodedBatch } from "../src/logs/cold/format/lines.ts";
import type { EncodedSegment } from "../src/logs/cold/format/segment.ts";
import { toFilter } from "../src/logs/query/schema.ts";
import { encodeSegments } from "../test/support/line-blocks.ts";
import { type ColdFill, type ColdRun, coldBatches, RARE_TEXT, RARE_TRACE, sliceOf } from "./cold-data.ts";
import { Workshop } from "./servers.ts";
import { aligned } from "./text-table.ts";

/**
 * `node bench/cold.ts [entries] [file.ndjson ...]`: bytes an entry of the cold tier by column, false positives of its
 * filters, as blocks of lines that versions before segment files wrote, and the time that D1 takes to find and read segments, all in the runtime that serves them. The files are
 * real logs, with one JSON entry per line. Prints, and writes nothing. See docs/decisions.
 */

const HOUR_MS = 60 * 60 * 1000;
const PROJECTS = Array.from({ length: 10 }, (_, index) => `proj_${String(index).padStart(12, "0")}`);
const PER_SEGMENT = 10_000;

/** Typical searches. */
const WORDS =
  "timeout refused exception stacktrace panic deadlock rollback certificate expired unauthorized forbidden overflow segfault oom killed eviction throttled ECONNRESET ENOTFOUND checksum mismatch corrupted truncated kernel firmware watchdog heartbeat quorum leader election replica snapshot vacuum retrying backoff circuit breaker fallback degraded unreachable unresolved handshake renegotiate cipher revoked webhook invoice payment declined refund chargeback coupon checkout basket newsletter unsubscribe bounce mailbox attachment thumbnail transcode bitrate codec playlist subtitle GlassPet petrel albatross".split(
    " ",
  );

const [entriesArgument = "1000000", ...files] = process.argv.slice(2);
const entries = Number(entriesArgument);
if (!(entries >= 100_000)) throw new StartFailure("The number of entries must be at least 100000.");
const start = Date.UTC(2026, 10, 20, 6);
const step = (6 * HOUR_MS * PROJECTS.length) / entries;

report("330-byte entries, 50 a batch", [...segmentsOf(coldBatches(fillOf(0, 0, 50)), PER_SEGMENT)]);
report("330-byte entries, one a batch", [...segmentsOf(coldBatches(fillOf(0, 0, 1)), PER_SEGMENT)]);
for (const file of files) {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  report(`${path.basename(file)}, ${lines.length} entries`, [...segmentsOf([sliceOf(lines, start)], lines.length)]);
}
await measureStore();
process.exit(0);

function fillOf(project: number, segment: number, batch: number): ColdFill {
  const firstSeq = segment * PER_SEGMENT + 1;
  const projectId = PROJECTS[project] ?? "";
  return { projectId, firstSeq, count: PER_SEGMENT, batch, start: start + segment * PER_SEGMENT * step, step };
}

function segmentsOf(batches: Iterable<DecodedBatch>, count: number): Generator<EncodedSegment> {
  return encodeSegments(PROJECTS[0] ?? "", batches, { firstSeq: 1, lastSeq: count });
}

function report(name: string, segments: readonly EncodedSegment[]): void {
  const count = segments.reduce((sum, segment) => sum + segment.count, 0);
  const columns = [
    "body",
    "filter",
    "blockFilter",
    "batchTable",
    "blocks",
    "levels",
    "summary",
    "storedBytes",
    "rawBytes",
  ] as const;
  const perEntry = columns.map((column) => {
    const bytes = segments.reduce(
      (sum, { [column]: value }) => sum + (typeof value === "number" ? value : value.length),
      0,
    );
    return (bytes / count).toFixed(2);
  });
  const kinds = Object.entries({ ...EXACT_KIND, ...TOKEN_KIND }).filter(([, kind]) =>
    segments.every(({ filterKinds }) => filterKinds & kind),
  );
  console.log(`\n${name}: bytes an entry by column, ${segments.length} segments`);
  console.log(aligned([...columns], [perEntry]));
  console.log(`In the filter: ${kinds.map(([kind]) => kind).join(", ")}`);
  const falsePositives = (filters: Parameters<typeof toFilter>[0][]) => {
    const passed = filters
      .flatMap((filter) => segments.map((segment) => passes(segment, filter)))
      .filter(Boolean).length;
    return `${((passed * 100) / (filters.length * segments.length)).toFixed(2)} %`;
  };
  const many = Array.from({ length: 20_000 }, (_, index) => index);
  console.log(
    `Traces that are not there pass: ${falsePositives(many.map((index) => ({ traceId: `absent-${index}` })))}`,
  );
  const words = absentWords(segments);
  console.log(
    `Words (of a dictionary of logs) that are not there: ${words.length}; they pass: ${falsePositives(words.map((search) => ({ search })))}`,
  );
}

function passes({ filter, filterKinds }: EncodedSegment, filters: Parameters<typeof toFilter>[0]): boolean {
  return tokenTestsOf(toFilter(filters)).every(
    (test) => tokensFor(test, filterKinds)?.some(({ a, b }) => mayContain(filter, a, b)) ?? true,
  );
}

function absentWords(segments: readonly EncodedSegment[]): string[] {
  const text = segments.map(textOf).join("\n").toLowerCase();
  return WORDS.filter((word) => !text.includes(word.toLowerCase()));
}

function textOf(segment: EncodedSegment): string {
  const lines: string[] = [];
  const batchTable = new BatchTable(segment, segment.batchTable);
  for (const block of readBlockIndex(segment)) {
    const { body } = decodeBlock(segment, batchTable, block, segment.body.subarray(block.start, block.end), null);
    lines.push(new TextDecoder().decode(body));
  }
  return lines.join("\n");
}

async function measureStore(): Promise<void> {
  const workshop = new Workshop();
  const server = await workshop.startWorker(await workshop.bundle("cold", "own"));
  const post = async (route: string, body: unknown): Promise<Record<string, number>> => {
    const answer = await fetch(`${server.url}${route}`, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${route} answered ${answer.status}: ${await answer.text()}`);
    // SAFETY: the bench's own worker returns numbers by name.
    return JSON.parse((await answer.text()) || "{}") as Record<string, number>;
  };
  for (const file of readdirSync(path.join(ROOT, "migrations-cold")).sort()) {
    const statements = readFileSync(path.join(ROOT, "migrations-cold", file), "utf8").replace(/^\s*--.*\n/gm, "");
    await post("/migrate", statements.trim().replace(/;$/, ""));
  }
  const before = (await post("/size", {})).bytes ?? 0;
  let encodeMs = 0;
  let insertMs = 0;
  const perProject = entries / PROJECTS.length / PER_SEGMENT;
  for (let segment = 0; segment < perProject; segment++) {
    for (const project of PROJECTS.keys()) {
      const took = await post("/fill", fillOf(project, segment, 50));
      encodeMs += took.encodeMs ?? 0;
      insertMs += took.insertMs ?? 0;
    }
  }
  const segments = perProject * PROJECTS.length;
  const after = (await post("/size", {})).bytes ?? 0;
  console.log(`\n${entries} entries in ${segments} segments of ${PROJECTS.length} projects over 6 h, in D1`);
  console.log(`The database grew by ${((after - before) / entries).toFixed(2)} bytes an entry`);
  console.log(
    `Encoding ${((encodeMs * 1000) / entries).toFixed(2)} us an entry, storing ${((insertMs * 1000) / entries).toFixed(2)} us`,
  );
  const end = start + 6 * HOUR_MS;
  const rows: string[][] = [];
  const time = async (name: string, run: Partial<ColdRun>) => {
    const whole: ColdRun = {
      action: "find",
      runs: 20,
      projects: PROJECTS,
      filters: {},
      limit: 256,
      order: "desc",
      ...run,
    };
    await post("/run", { ...whole, runs: 2 });
    const { ms = Number.NaN, result = 0 } = await post("/run", whole);
    rows.push([name, ms.toFixed(2), String(result)]);
  };
  const [one = ""] = PROJECTS;
  await time("no segment (another project)", { projects: ["proj_zzzzzzzzzzzz"] });
  await time("a rare trace: find", { filters: { traceId: RARE_TRACE } });
  await time("a rare trace: find and scan", { action: "scan", filters: { traceId: RARE_TRACE } });
  await time("a trace that is not there", { filters: { traceId: "f".repeat(32) } });
  await time("newest 16 with it: find and scan", {
    action: "scan",
    limit: 16,
    filters: { search: "/api/v1/orders/777 " },
  });
  await time("a trace in one project", { projects: [one], filters: { traceId: RARE_TRACE } });
  await time("a rare text: find", { filters: { search: RARE_TEXT.slice(5, 13) } });
  await time("a rare text: find and scan", { action: "scan", filters: { search: RARE_TEXT.slice(5, 13) } });
  await time("data value in the filter nowhere", {
    filters: { data: [{ path: ["ticket"], op: "eq", value: "T-4711" }] },
  });
  await time("newest 16, all projects", { limit: 16 });
  await time("oldest 16, all projects", { limit: 16, order: "asc" });
  await time("all, newest first", {});
  await time("newest of one project: last frame scanned", { action: "tail", projects: [one], limit: 1 });
  await time("newest of one project: all scanned", { action: "scan", projects: [one], limit: 1, runs: 10 });
  await time("levels of all", { action: "levels" });
  await time("levels of one project", { action: "levels", projects: [one] });
  await time("levels of the last hour", { action: "levels", filters: { from: end - HOUR_MS } });
  await time("usage", { action: "usage" });
  await time("last hour, all projects, scanned", { action: "scan", filters: { from: end - HOUR_MS }, runs: 3 });
  console.log(`\n${aligned(["read", "ms", "result"], rows)}`);
  await server.stop();
}
