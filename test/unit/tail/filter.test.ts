import { describe, expect, it } from "vitest";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { matchesFilter } from "../../../src/logs/query/filter.ts";
import { restFilterOf } from "../../../src/logs/search/rest-filter.ts";
import { parseFilterText } from "../../../src/query-language/parse.ts";
import { isKnownTailFilter, readTailFilter, tailFilterText } from "../../../src/tail/filter.ts";
import { TAIL_CLOSE } from "../../../src/tail/limits.ts";
import { toLogFilter } from "../../../src/tail/log-filter.ts";
import { readTailQuery, type TailParameters } from "../../../src/tail/query.ts";
import { bodyOf, type TestEntry } from "../query/store.ts";
import { EVERYTHING, entry, FakeObject } from "./support.ts";

type FilterParameter = Exclude<keyof typeof TailParameters.shape, "since" | "ticket">;

const WANTED: TestEntry = {
  timestamp: 1_790_000_000_000,
  level: "error",
  category: "http",
  type: "request",
  message: "connection timed out",
  session: "sess_1",
  traceId: "trace_1",
  service: "checkout",
  host: "web-1",
};

/** A value of each parameter that `WANTED` passes, and the change of `WANTED` that does not. */
const NARROWING: Record<FilterParameter, { value: string; changed: Partial<TestEntry> }> = {
  level: { value: "error", changed: { level: "fatal" } },
  minLevel: { value: "warn", changed: { level: "info" } },
  category: { value: "http", changed: { category: "queue" } },
  type: { value: "request", changed: { type: "response" } },
  session: { value: "sess_1", changed: { session: "sess_2" } },
  traceId: { value: "trace_1", changed: { traceId: "trace_2" } },
  service: { value: "checkout", changed: { service: "billing" } },
  host: { value: "web-1", changed: { host: "web-2" } },
  search: { value: "TIMED", changed: { message: "connection refused" } },
  q: { value: "(message:*out OR seq:<0) time:>2020", changed: { message: "connection refused" } },
};

function textOf(query: string): string {
  const result = readTailQuery(new URLSearchParams(query));
  if (!result.ok) throw new Error(JSON.stringify(result.details));
  return result.query.filter;
}

/** The indexes of the entries that a tail with a query sends. */
function sent(query: string, entries: readonly TestEntry[]): number[] {
  const matcher = new BatchMatcher(toLogFilter(readTailFilter(textOf(query)), null));
  const indexes: number[] = [];
  const noEntry = (index: number) => expect.fail(`Line ${index} is not an entry.`);
  matcher.forEachMatch(
    bodyOf(entries),
    () => true,
    ({ index }) => indexes.push(index),
    noEntry,
    { projectId: "proj_a", seqAt: (index) => index + 1, receivedAtOf: () => 0 },
  );
  return indexes;
}

describe("every parameter of a tail", () => {
  it.each(Object.entries(NARROWING))("narrows what the tail sends: %s", (name, { value, changed }) => {
    const entries = [WANTED, { ...WANTED, ...changed }];
    expect(sent("", entries)).toEqual([0, 1]);
    expect(sent(`${name}=${encodeURIComponent(value)}`, entries)).toEqual([0]);
  });

  it("narrows together with all others", () => {
    const query = Object.entries(NARROWING).map(([name, { value }]) => `${name}=${encodeURIComponent(value)}`);
    const others = Object.values(NARROWING).map(({ changed }) => ({ ...WANTED, ...changed }));
    expect(sent(query.join("&"), [...others, WANTED])).toEqual([others.length]);
  });
});

describe("the filter text", () => {
  const text = textOf("level=warn&level=error&type=b&type=a&type=b&session=s&traceId=t&search=%CE%A3");
  /** As the version before texts had a version wrote it. */
  const unversioned = '[48,null,["a","b"],"s","t","σ"]';

  it("has a version after the members that versions without it read", () => {
    expect(JSON.parse(text)).toEqual([...JSON.parse(unversioned), 1]);
  });

  it("of the version before is read", () => {
    expect(isKnownTailFilter(unversioned)).toBe(true);
    expect(readTailFilter(unversioned)).toEqual(readTailFilter(text));
  });

  it("has a filter of the query language in a version of its own", () => {
    const parsed = parseFilterText("status:>=500 OR received:1h");
    if (!parsed.ok) throw new Error(parsed.error.message);
    const now = Date.UTC(2026, 10, 22, 12);
    const rest = restFilterOf(parsed.query.filter, now).text;
    const written = tailFilterText({ ...EVERYTHING, rest });
    const wanted = "status:>=500 OR received:>=2026-11-22T11:00:00.000";
    expect(JSON.parse(written)).toEqual([127, null, null, null, null, null, 2, wanted]);
    expect(isKnownTailFilter(written)).toBe(true);
    const filter = toLogFilter(readTailFilter(written), null);
    const entry = { ...WANTED, timestamp: new Date(now).toISOString() };
    const passes = (data: object, receivedAt: number) =>
      matchesFilter(filter, { ...entry, data: { ...data } }, now, {
        ...{ timestamp: now, receivedAt, seq: 1, projectId: "proj_a", id: "log_a1" },
      });
    expect([passes({ status: 503 }, 0), passes({ status: 200 }, now), passes({ status: 200 }, 0)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("has the whole of q, whose durations count from the opening of the tail", () => {
    const [, rest] = [...JSON.parse(textOf("q=level:error%20time:1h")).slice(6)];
    expect(rest).toMatch(/^level:error time:>=\d{4}-\d\d-\d\dT[\d:.]+$/);
    expect(toLogFilter(readTailFilter(textOf(`q=${encodeURIComponent(rest)}`)), 5)).toMatchObject({
      levelMask: 32,
      from: Date.parse(`${/time:>=(.*)$/.exec(rest)?.[1]}Z`),
      rest: null,
    });
    expect(textOf("q=*")).toBe(textOf(""));
    const refused = readTailQuery(new URLSearchParams({ q: "a | count" }));
    expect(refused).toEqual({ ok: false, details: [expect.objectContaining({ path: "query.q", position: 2 })] });
  });

  it("of a later version is not read, because its filters would be ignored", () => {
    const later = JSON.stringify([...JSON.parse(unversioned), 3, "a", "web-1"]);
    expect(isKnownTailFilter(later)).toBe(false);
    expect(() => readTailFilter(later)).toThrow();
  });

  it("of a later version closes a restored tail, whose client reconnects with since; other tails continue", async () => {
    const object = new FakeObject();
    const { socket: kept } = object.open();
    const { socket: later } = object.open();
    object.commit(1, [entry("one")]);
    await object.settle();
    const attachment = JSON.stringify(later.attachment);
    const filter = JSON.stringify(tailFilterText(EVERYTHING));
    const replaced = attachment.replace(filter, JSON.stringify('[127,null,null,null,null,null,3,"a","web-1"]'));
    expect(replaced).not.toBe(attachment);
    later.attachment = JSON.parse(replaced);
    object.evict([kept, later]);
    expect(later.closed).toEqual({ code: TAIL_CLOSE.stopping, reason: "since=1" });
    object.commit(1, [entry("two")]);
    await object.settle();
    expect([kept.seqs, later.seqs, kept.closed]).toEqual([[1, 2], [1], null]);
  });
});
