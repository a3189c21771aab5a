import { describe, expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import type { Release } from "../../../../web/src/charts/releases.ts";
import type { LogEntry } from "../../../../web/src/model/types.ts";
import { changeQueries, changesOf } from "../../../../web/src/pages/investigate/releases/release-changes.ts";

const AT = Date.UTC(2026, 10, 27, 10);

function entry(message: string, data: LogEntry["data"], type = "startup"): LogEntry {
  return {
    ...{ id: `log_${message}`, seq: 1, projectId: "proj_1", receivedAt: "", timestamp: new Date(AT).toISOString() },
    ...{ level: "info", category: "system", type, message },
    ...(data === undefined ? {} : { data }),
  };
}

const release: Release = { version: "5.8.0", service: "payments", at: AT, previous: "5.7.3" };
const start = (version: string, data: Record<string, unknown>) =>
  entry(`payments ${version} started`, { version, ...data });

describe("19: what a release changed", () => {
  it("is asked for by valid queries", () => {
    for (const field of ["version", 'resource."service.version"'])
      for (const each of [
        release,
        { ...release, service: null, version: 'a "b" OR *' },
        { ...release, previous: null },
      ])
        for (const { query, from, to } of changeQueries(field, each)) {
          expect(parse(query), query).toMatchObject({ ok: true });
          expect(from < to).toBe(true);
        }
    expect(changeQueries("version", release).map(({ query }) => query)).toEqual([
      "version:5.8.0 service:=payments | sort time | limit 20",
      "version:* service:=payments -(version:5.8.0 service:=payments) | limit 20",
      "version:5.7.3 service:=payments | sort time | limit 20",
    ]);
  });

  it("are the members of its start that differ from those of the start before, without what varies among hosts", () => {
    const own = [
      start("5.8.0", { timeoutMs: { nordpay: 300, cardline: 3000 }, pid: 4, tags: ["a"], region: null }),
      start("5.8.0", { timeoutMs: { nordpay: 300, cardline: 3000 }, pid: 5, tags: ["a"], region: null }),
      // Not like a start, and first by name.
      entry("charged", { version: "5.8.0", ms: 1 }, "log"),
    ];
    const before = [
      start("5.7.3", { timeoutMs: { nordpay: 3000, cardline: 3000 }, pid: 1, tags: ["a", "b"], tries: 2 }),
      start("5.7.3", { timeoutMs: { nordpay: 3000, cardline: 3000 }, pid: 2, tags: ["a", "b"], tries: 2 }),
    ];
    expect(
      changesOf("version", release, [own, [entry("charged", { version: "5.7.3", ms: 9 }, "log")], before]),
    ).toEqual({
      previous: "5.7.3",
      members: [
        { name: "timeoutMs.nordpay", before: "3000", now: "300" },
        { name: "tags", before: '["a","b"]', now: '["a"]' },
        { name: "region", before: null, now: "null" },
        { name: "tries", before: "2", now: null },
      ],
    });
  });

  it("takes the version of the newest entry before, if the span has none, and entries of that one alone", () => {
    const changes = changesOf("version", { ...release, previous: null }, [
      [start("5.8.0", { tries: 3 })],
      [start("5.8.0-rc.1", { tries: 2 }), start("5.7.3", { tries: 1 })],
    ]);
    expect(changes).toEqual({ previous: "5.8.0-rc.1", members: [{ name: "tries", before: "2", now: "3" }] });
  });

  it("is unknown without an entry of the same kind", () => {
    expect(changesOf("version", { ...release, previous: null }, [[start("5.8.0", {})], []])).toEqual({
      previous: null,
      members: null,
    });
    const other = [entry("payments accepts connections", { version: "5.7.3" })];
    expect(changesOf("version", release, [[start("5.8.0", {})], other, other])).toEqual({
      previous: "5.7.3",
      members: null,
    });
  });
});
