import { blocksToRead } from "../../src/logs/cold/filter/block-filter.ts";
import { type TokenTest, tokenTestsOf } from "../../src/logs/cold/filter/token-tests.ts";
import { readLevelCounts } from "../../src/logs/cold/format/counts.ts";
import type { SegmentSelection } from "../../src/logs/cold/store/selection.ts";
import { type FoundSegment, SegmentStore, STORE_LIMITS } from "../../src/logs/cold/store/store.ts";
import { SegmentWriter } from "../../src/logs/cold/store/writer.ts";
import { BatchMatcher } from "../../src/logs/query/batch-matcher.ts";
import { ALL_CATEGORIES_MASK, ALL_LEVELS_MASK, type LogFilter } from "../../src/logs/query/filter.ts";
import { toFilter } from "../../src/logs/query/schema.ts";
import { readBlocks } from "../../test/objects/cold/read-blocks.ts";
import { encodeSegments } from "../../test/support/line-blocks.ts";
import { type ColdFill, type ColdRun, coldBatches } from "../cold-data.ts";

const WORKSPACE = "ws_000000000001";

/** Segments in D1, and the time of reading them, all inside one worker. */
/** `startWorker` binds its socket to this name. */
export const direct = {
  async fetch(request, env): Promise<Response> {
    const { pathname } = new URL(request.url);
    switch (pathname) {
      case "/migrate":
        await env.DB.batch((await request.text()).split(";\n").map((statement) => env.DB.prepare(statement)));
        return new Response();
      case "/fill":
        return Response.json(await fill(new SegmentWriter(env.DB), await request.json<ColdFill>()));
      case "/run":
        return Response.json(await run(env.DB, await request.json<ColdRun>()));
      case "/size": {
        const { meta } = await env.DB.prepare("SELECT 1").all();
        return Response.json({ bytes: meta.size_after, totals: await new SegmentWriter(env.DB).usage(WORKSPACE) });
      }
      default:
        return new Response(null, { status: 404 });
    }
  },
} satisfies ExportedHandler<{ DB: D1Database }>;

export default direct;

async function fill(writer: SegmentWriter, part: ColdFill) {
  // Created before the measurement, because creating entries costs about as much as encoding them.
  const batches = [...coldBatches(part)];
  const range = { firstSeq: part.firstSeq, lastSeq: part.firstSeq + part.count - 1 };
  const startedAt = performance.now();
  const segments = [...encodeSegments(part.projectId, batches, range)];
  const encodedAt = performance.now();
  const totals = await writer.insertSegments(WORKSPACE, segments);
  return { ...totals, encodeMs: encodedAt - startedAt, insertMs: performance.now() - encodedAt };
}

async function run(db: D1Database, { action, runs, projects, filters, limit, order }: ColdRun) {
  const filter = toFilter(filters);
  const selection: SegmentSelection = {
    workspaceId: WORKSPACE,
    projects: new Map(projects.map((project) => [project, Number.MAX_SAFE_INTEGER])),
    from: filter.from,
    to: filter.to,
    levelMask: filter.levelMask & ALL_LEVELS_MASK,
    categoryMask: ALL_CATEGORIES_MASK,
    asOf: null,
    tests: tokenTestsOf(filter),
    order,
    after: null,
    limit,
    maxScanned: Number.MAX_SAFE_INTEGER,
  };
  let result = 0;
  const startedAt = performance.now();
  for (let at = 0; at < runs; at++) result = await once(db, action, selection, filter);
  return { ms: (performance.now() - startedAt) / runs, result };
}

async function once(db: D1Database, action: ColdRun["action"], selection: SegmentSelection, filter: LogFilter) {
  const store = new SegmentStore(db);
  switch (action) {
    case "usage":
      return (await new SegmentWriter(db).usage(selection.workspaceId)).entries;
    case "find":
      return (await store.findSegments(selection)).segments.length;
    case "levels":
      return countAll(store, selection);
    case "scan":
      return scan(store, (await store.findSegments(selection)).segments, filter, selection.tests, false);
    case "tail":
      return scan(store, (await store.findSegments(selection)).segments, filter, selection.tests, true);
  }
}

async function countAll(store: SegmentStore, selection: SegmentSelection): Promise<number> {
  const minutes = new Map<number, number>();
  for (let after = selection.after; ; ) {
    const page = await store.readLevels({ ...selection, limit: STORE_LIMITS.levels, after });
    for (const { counts } of page.segments) {
      for (const { minute, level, count } of readLevelCounts(counts)) {
        const key = minute * 8 + level;
        minutes.set(key, (minutes.get(key) ?? 0) + count);
      }
    }
    if (page.next === null) return minutes.size;
    after = page.next;
  }
}

function refuse(): never {
  throw new Error("A stored line is no entry.");
}

/** Entries of these segments that pass; with `tail`, only those of each segment's last block. */
async function scan(
  store: SegmentStore,
  found: FoundSegment[],
  filter: LogFilter,
  tests: readonly TokenTest[],
  tail: boolean,
): Promise<number> {
  const matcher = new BatchMatcher(filter);
  const everything = () => true;
  let passed = 0;
  const wanted = found.map((meta) => ({
    meta,
    blocks: blocksToRead(meta, { ...filter, tests }).slice(tail ? -1 : 0),
  }));
  for await (const unit of readBlocks(store, WORKSPACE, wanted, null)) {
    const pass = () => {
      passed++;
    };
    matcher.forEachMatch(unit.body, everything, pass, refuse);
  }
  return passed;
}
