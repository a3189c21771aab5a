import { evictDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { decodeBody } from "../../../src/logs/batch.ts";
import { idHashesOf } from "../../../src/logs/id-filter.ts";
import type { RecentPage, RecentScan } from "../../../src/logs/query/recent-feed.ts";
import { countsOf } from "../../../src/logs/summary.ts";
import { BatchIndex } from "../../../src/workspace/recent/batch-index.ts";
import { insertBatch } from "../../../src/workspace/recent/batches.ts";
import { type RecentScope, readRecent as readInOneTurn } from "../../../src/workspace/recent/reader.ts";
import { addProject, batchOf, EVERYTHING, inWorkspace, OWNER, type SimpleEntry, workspaceStub } from "./support.ts";

const A = "proj_00000000000a";
const B = "proj_00000000000b";

/** Hex of random bytes, which hardly compresses, so that stored bodies have the expected size. */
function noise(bytes: number): string {
  return Array.from({ length: Math.ceil(bytes / 32_768) }, () =>
    Array.from(crypto.getRandomValues(new Uint8Array(32_768)), (byte) => String.fromCodePoint(0x4e00 + byte * 7)).join(
      "",
    ),
  ).join("");
}

function messages(page: RecentPage): string[] {
  return page.batches.flatMap(({ encoding, body }) =>
    new TextDecoder()
      .decode(decodeBody(encoding, body))
      .split("\n")
      .map((line) => JSON.parse(line).message),
  );
}

function readRecent(...args: Parameters<typeof readInOneTurn>): RecentPage {
  const read = readInOneTurn(...args);
  if (!read.ok) throw new Error("The selection takes several turns.");
  return read.page;
}

describe("readRecent", () => {
  it("returns whole batches with project, seq and times", async () => {
    await inWorkspace("ws_00000000rdr1", (sql) => {
      const projects = [A, B].map((id) => ({ num: addProject(sql, id), id, flushedSeq: 0, lastSeq: 0 }));
      const scope: RecentScope = { name: "ws_00000000rdr1", projects, oldest: 0 };
      insertBatch(
        sql,
        1,
        1,
        11,
        batchOf([
          { timestamp: 5, message: "one" },
          { timestamp: 3, message: "two" },
        ]),
        77,
      );
      insertBatch(sql, 2, 2, 1, batchOf([{ timestamp: 9, message: "three" }]), 78);
      const page = readRecent(sql, new BatchIndex(sql), EVERYTHING, scope);
      expect(page).toMatchObject({ asOf: 2, lastCommit: 2, scope: "ws_00000000rdr1", next: null });
      expect(page.batches).toMatchObject([
        { commit: 2, projectId: B, firstSeq: 1, count: 1, minTimestamp: 9, maxTimestamp: 9, receivedAt: 78 },
        { commit: 1, projectId: A, firstSeq: 11, count: 2, minTimestamp: 3, maxTimestamp: 5, receivedAt: 77 },
      ]);
      expect(messages(page)).toEqual(["three", "one", "two"]);
      const one = readRecent(sql, new BatchIndex(sql), EVERYTHING, {
        name: A,
        projects: projects.slice(0, 1),
        oldest: 0,
      });
      expect(messages(one)).toEqual(["one", "two"]);
    });
  });

  it("joins a body of several rows", async () => {
    await inWorkspace("ws_00000000rdr2", (sql) => {
      const projects = [{ num: addProject(sql, A), id: A, flushedSeq: 0, lastSeq: 0 }];
      const entries: SimpleEntry[] = Array.from({ length: 12 }, (_, n) => ({ timestamp: n, message: noise(200_000) }));
      insertBatch(sql, 1, 1, 1, batchOf(entries), 0);
      expect(Number(sql.exec("SELECT count(*) AS n FROM batch_parts").one().n)).toBeGreaterThan(0);
      const page = readRecent(sql, new BatchIndex(sql), EVERYTHING, { name: A, projects, oldest: 0 });
      expect(messages(page)).toEqual(entries.map(({ message }) => message));
    });
  });

  it("pages by bytes through all batches once, in either order, while others arrive", async () => {
    await inWorkspace("ws_00000000rdr3", (sql) => {
      const scope = { name: A, projects: [{ num: addProject(sql, A), id: A, flushedSeq: 0, lastSeq: 0 }], oldest: 0 };
      const index = new BatchIndex(sql);
      let commit = 0;
      const add = (timestamp: number) => {
        const batch = batchOf([{ timestamp, message: `${timestamp}${noise(100)}` }]);
        insertBatch(sql, ++commit, 1, commit, batch, 0);
        const stored = { bodyBytes: batch.body.length, wasStaged: false, receivedAt: 0 };
        index.add([{ commit, project: 1, firstSeq: commit, batch, ...stored }]);
      };
      for (const timestamp of [5, 3, 8, 3, 9, 1, 8]) add(timestamp);
      for (const order of ["asc", "desc"] as const) {
        let scan: RecentScan = { ...EVERYTHING, order, maxBytes: 1 };
        const seen: number[] = [];
        const last = commit;
        for (;;) {
          const page = readRecent(sql, index, scan, scope);
          expect(page.asOf).toBe(last);
          expect(page.batches).toHaveLength(1);
          seen.push(...page.batches.map((batch) => batch.commit));
          if (page.next === null) break;
          scan = { ...scan, asOf: page.asOf, position: page.next };
          add(seen.length % 2 === 0 ? 100 : 0);
        }
        const rising = order === "asc" ? seen : seen.reverse();
        if (order === "asc") expect(rising).toEqual([6, 2, 4, 1, 3, 7, 5]);
        else expect(rising.filter((each) => each <= 7)).toEqual([6, 2, 4, 1, 3, 7, 5]);
        expect(new Set(seen).size).toBe(last);
      }
    });
  });

  it("excludes batches that lack an id, however many, but none that was stored without a filter", async () => {
    await inWorkspace("ws_00000000rdr6", (sql) => {
      const scope = { name: A, projects: [{ num: addProject(sql, A), id: A, flushedSeq: 0, lastSeq: 0 }], oldest: 0 };
      const hex = (n: number) => (n * 2654435761).toString(16).padStart(32, "0");
      const count = 2500;
      const index = new BatchIndex(sql);
      for (let commit = 1; commit <= count; commit++) {
        const entry = { timestamp: commit, message: `${commit}`, traceId: hex(commit), session: `s${commit % 5}` };
        insertBatch(sql, commit, 1, commit, batchOf([entry]), 0);
        index.pack(1);
      }
      // As a version before id filters stored it.
      const { summary } = sql
        .exec<{ summary: ArrayBuffer }>("SELECT summary FROM batches WHERE commit_no = 1700")
        .one();
      sql.exec("UPDATE batches SET summary = ? WHERE commit_no = 1700", countsOf(new Uint8Array(summary)));
      const find = (wanted: { session: string | null; traceId: string | null }, order: "asc" | "desc") => {
        const found: number[] = [];
        let pages = 0;
        let scan: RecentScan = { ...EVERYTHING, order, ids: idHashesOf(wanted) };
        for (;;) {
          const page = readRecent(sql, index, scan, scope);
          pages++;
          found.push(...page.batches.map(({ commit }) => commit));
          if (page.next === null) return { found, pages };
          scan = { ...scan, asOf: page.asOf, position: page.next };
        }
      };
      for (const order of ["asc", "desc"] as const) {
        const { found, pages } = find({ session: null, traceId: hex(77) }, order);
        expect(found).toContain(77);
        expect(found).toContain(1700);
        expect(found.length).toBeLessThan(60);
        expect(pages).toBe(3);
        expect(find({ session: "s3", traceId: hex(78) }, order).found).toContain(78);
        expect(find({ session: "s4", traceId: hex(78) }, order).found).not.toContain(78);
      }
      expect(find({ session: null, traceId: null }, "asc").found).toHaveLength(count);
    });
  });

  it("returns nothing for a snapshot from the future, and pins the newest commit even if it is empty", async () => {
    await inWorkspace("ws_00000000rdr4", (sql) => {
      const scope = { name: A, projects: [{ num: addProject(sql, A), id: A, flushedSeq: 0, lastSeq: 0 }], oldest: 0 };
      const index = new BatchIndex(sql);
      expect(readRecent(sql, index, EVERYTHING, scope)).toMatchObject({
        asOf: 0,
        lastCommit: 0,
        batches: [],
        next: null,
      });
      insertBatch(sql, 1, 1, 1, batchOf([{ timestamp: 1, message: "m" }]), 0);
      index.invalidate();
      const future = readRecent(sql, index, { ...EVERYTHING, asOf: 2 }, scope);
      expect(future).toMatchObject({ asOf: 2, lastCommit: 1, batches: [], next: null });
      sql.exec("UPDATE workspace SET last_commit = 5");
      expect(readRecent(sql, index, EVERYTHING, scope).asOf).toBe(5);
    });
  });
});

describe("WorkspaceObject.recent", () => {
  it("finds entries ingested before, after and across an eviction", async () => {
    const id = "ws_00000000rdr5";
    const stub = () => workspaceStub(id);
    await stub().provision({ id, name: "Test", personal: true, ownerId: OWNER });
    const project = await stub().createProject(OWNER, "One");
    if (!project.ok) throw new Error(project.message);
    const key = await stub().createKey(OWNER, project.value.id, {
      name: "k",
      scopes: ["logs:write", "logs:read"],
      expiresAt: null,
    });
    if (!key.ok) throw new Error(key.message);
    const hash = await sha256Hex(key.value.secret);
    const projectId = project.value.id;
    const ingest = async (message: string) => {
      const route = { method: "POST", pattern: "/logger/:projectId/log", path: `/logger/${projectId}/log` };
      const batch = batchOf([{ timestamp: Date.now(), message }]);
      const call = {
        keyHash: hash,
        projectId,
        route,
        idempotency: null,
        batch,
        rejected: [],
        rejectedCount: 0,
        oldest: null,
      };
      expect(await stub().ingest(call)).toMatchObject({ ok: true });
    };
    const found = async () => {
      const result = await stub().recent({
        caller: { kind: "key", hash },
        route: null,
        projectId: null,
        scan: EVERYTHING,
      });
      if (!result.ok) throw new Error(result.message);
      expect(result.value.scope).toBe(projectId);
      return messages(result.value).sort();
    };
    expect(await found()).toEqual([]);
    await ingest("a");
    expect(await found()).toEqual(["a"]);
    await evictDurableObject(stub());
    await ingest("b");
    expect(await found()).toEqual(["a", "b"]);
    await ingest("c");
    expect(await found()).toEqual(["a", "b", "c"]);
  });
});

async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Buffer.from(digest).toString("hex");
}
