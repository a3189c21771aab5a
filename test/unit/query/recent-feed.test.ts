import { expect, test } from "vitest";
import type { RecentBatch } from "../../../src/logs/batch.ts";
import { RecentFeed, type RecentPage, type RecentScan } from "../../../src/logs/query/recent-feed.ts";

const SCAN = { asOf: null, from: null, to: null, order: "asc", levelMask: 127, categoryMask: 255 } as const;
const BATCH: RecentBatch = {
  commit: 1,
  projectId: "proj_gone",
  firstSeq: 1,
  count: 1,
  minTimestamp: 1000,
  maxTimestamp: 1000,
  receivedAt: 1000,
  encoding: 0,
  body: new Uint8Array(),
};
const FIRST: RecentPage = {
  asOf: 2,
  lastCommit: 2,
  scope: "ws",
  flushed: [
    { projectId: "proj_gone", seq: 0 },
    { projectId: "proj_kept", seq: 0 },
  ],
  oldest: 0,
  batches: [BATCH],
  next: { timestamp: 2000, commit: 2 },
};

/** Returns pages in this order, whatever the request. */
function openPages(...pages: RecentPage[]): Promise<RecentFeed> {
  return RecentFeed.open(async () => {
    const page = pages.shift();
    if (!page) throw new Error("The page does not exist.");
    return page;
  }, SCAN);
}

test("a read ends if the remaining batches are deleted between two pages", async () => {
  const flushed = [{ projectId: "proj_kept", seq: 0 }];
  const feed = await openPages(FIRST, { ...FIRST, flushed, batches: [], next: null });
  expect((await feed.take()).count).toBe(1);
  expect(feed.bound()).toBe(2000);
  const nothing = await feed.take();
  expect(nothing).toMatchObject({ count: 0, minTimestamp: 2000, maxTimestamp: 2000 });
  expect(await nothing.open()).toBeNull();
  expect(feed.bound()).toBeNull();
});

test("26: a read gets the ranges still to be read if the remaining batches move to the cold tier between two pages", async () => {
  const flushed = FIRST.flushed.map((each) => ({ ...each, seq: 5 }));
  const next = { timestamp: 3000, commit: 2 };
  const further = { ...BATCH, projectId: "proj_kept", firstSeq: 9 };
  const feed = await openPages(
    { ...FIRST, batches: [{ ...BATCH, firstSeq: 2, count: 2 }, BATCH, further] },
    { ...FIRST, flushed, batches: [], next },
    { ...FIRST, flushed: [...flushed, { projectId: "proj_new", seq: 3 }], batches: [], next: null },
  );
  for (let batch = 0; batch < 3; batch++) await feed.take();
  expect(feed.takeMoves()).toEqual([]);
  expect((await feed.take()).count).toBe(0);
  expect(feed.takeMoves()).toEqual([
    { projectId: "proj_gone", after: 0, until: 5, received: [{ first: 1, last: 3 }], bound: 2000 },
    { projectId: "proj_kept", after: 0, until: 5, received: [], bound: 2000 },
  ]);
  expect(feed.takeMoves()).toEqual([]);
  await feed.take();
  expect(feed.takeMoves()).toEqual([]);
  expect(feed.bound()).toBeNull();
});

test("pages that filters leave empty are returned one by one, and have a cost", async () => {
  const empty = (timestamp: number): RecentPage => ({ ...FIRST, batches: [], next: { timestamp, commit: 2 } });
  const feed = await openPages(empty(2000), empty(3000), empty(4000), { ...FIRST, next: null });
  const seen: [number | null, number, number][] = [];
  while (feed.bound() !== null) {
    const bound = feed.bound();
    seen.push([bound, (await feed.take()).count, feed.cost / 1024 / 1024]);
  }
  expect(seen).toEqual([
    [2000, 0, 4],
    [3000, 0, 8],
    [4000, 1, 8],
  ]);
});

test("a read for one id starts with the largest page, any other with a small one", async () => {
  const asked = async (isForOneId: boolean) => {
    const bytes: number[] = [];
    const source = async ({ position, maxBytes }: RecentScan) => {
      bytes.push(maxBytes);
      return position === null || bytes.length < 5 ? FIRST : { ...FIRST, next: null };
    };
    const feed = await RecentFeed.open(source, SCAN, isForOneId);
    while (feed.bound() !== null) await feed.take();
    return bytes.map((each) => each / 1024);
  };
  expect(await asked(false)).toEqual([512, 2048, 2048, 2048, 2048]);
  expect(await asked(true)).toEqual([2048, 2048, 2048, 2048, 2048]);
});
