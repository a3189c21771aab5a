import { describe, expect, it } from "vitest";
import type { Alert, Condition } from "../../../web/src/model/alerts.ts";
import {
  asGroups,
  chartSpan,
  decisionLink,
  filterText,
  firesElsewhere,
  groupFields,
  notesOfRule,
  ruleQuery,
  thresholdOf,
  valuesQuery,
} from "../../../web/src/pages/alerts/alert-query.ts";
import { memberText } from "../../../web/src/pages/alerts/definition-words.ts";
import { draftOf, newDraft, readDeciding, readDraft } from "../../../web/src/pages/alerts/draft.ts";
import { inBatches, inOrder, isIdle, mutedUntil, notesOf, reachOf } from "../../../web/src/pages/alerts/state.ts";
import { differences } from "../../../web/src/pages/alerts/version-difference.ts";
import { conditionPhrase, durationMs, durationText, lengthText } from "../../../web/src/pages/alerts/words.ts";

/** Queries of one request for small charts. */
const BATCH = 20;
const NOW = Date.parse("2026-11-20T12:00:00Z");
const ALERT: Alert = {
  ...{ id: "alert_1", projectId: "proj_1", version: 3, name: "Errors", query: "level:>=error | count by service" },
  ...{
    condition: { kind: "threshold", value: 10, direction: "above" },
    window: "5m",
    delay: null,
    for: "1m",
    recovery: 5,
    labels: { team: "a" },
  },
  ...{
    message: "{{value}}",
    destinations: ["dest_1"],
    missingDestinations: [],
    mutes: [],
    createdBy: "usr_1",
    createdAt: "",
    updatedAt: "",
  },
  ...{ lastFiredAt: null, state: "ok", groups: { live: 0, pending: 0, firing: 0 }, notCounted: 0, late: 0, missing: 0 },
  since: { seq: 0, receivedAt: "2026-11-20T00:00:00.000Z" },
  position: { seq: 5, through: "2026-11-20T11:59:59.000Z", behind: 0 },
};

describe("queries of rules", () => {
  it("keeps what a rule can have of a search, and leaves a rule's query as written", () => {
    expect(ruleQuery("level:error  service:a")).toBe("level:error  service:a");
    expect(ruleQuery("level:error | count by service, bin(5m) | sort count desc")).toBe(
      "level:error | count by service",
    );
    expect(ruleQuery("level:error | where a:1 | top 10 by route")).toBe("level:error | where a:1");
    expect(ruleQuery("* | patterns 20")).toBe("*");
    expect(ruleQuery("level:(")).toBe("level:(");
  });

  it("asks for values over time, by group or of all", () => {
    expect(valuesQuery("level:error", 60_000, true)).toBe("level:error | count by bin(1m)");
    expect(valuesQuery("a:1 | count by service", 300_000, true)).toBe("a:1 | count by service, bin(5m)");
    expect(valuesQuery("a:1 | stats p99(ms) by service", 300_000, false)).toBe("a:1 | stats p99(ms) by bin(5m)");
    expect(valuesQuery("a:(", 60_000, true)).toBeNull();
    expect(groupFields("a:1 | count by service, user.id")).toEqual(["service", "user.id"]);
    expect(groupFields("a:1")).toEqual([]);
  });

  it("draws windows of 7 days, or as many as can be told apart", () => {
    expect(chartSpan("1h", NOW)).toEqual({
      ...{ from: NOW - 7 * 86_400_000, to: NOW, binMs: 3_600_000 },
      isCut: false,
    });
    expect(chartSpan("1m", NOW + 1)).toEqual({
      ...{ from: NOW + 60_000 - 86_400_000, to: NOW + 60_000, binMs: 60_000 },
      isCut: true,
    });
    expect(thresholdOf(ALERT)).toBe(10);
    expect(thresholdOf({ condition: { kind: "rate", value: 2 }, window: "5m" })).toBe(600);
    expect(
      thresholdOf({ condition: { kind: "change", direction: "fall", percent: 5, min: 1 }, window: "5m" }),
    ).toBeNull();
  });

  it("has values by the groups of the rule: cut texts, one group of what has no value, types apart", () => {
    const columns = ["g", "time", "count"].map((name) => ({ name, type: name === "time" ? "time" : "number" }));
    const [one, two] = ["2026-11-20T10:00:00.000Z", "2026-11-20T10:01:00.000Z"];
    const long = "x".repeat(200);
    const rows = [
      ...[
        [`${long}1`, one, 2],
        [`${long}2`, one, 3],
        [`${long}2`, two, 4],
      ],
      ...[
        [null, one, 1],
        [{}, one, 5],
        [0, one, 6],
        ["0", one, 7],
        ["null", one, 8],
      ],
    ];
    const grouped = (text: string) => asGroups(text, { columns, rows });
    expect(grouped("* | count by g")).toEqual({
      isExact: true,
      table: {
        columns: [{ name: "g", type: "string" }, ...columns.slice(1)],
        rows: [
          ...[
            [long, one, 5],
            [long, two, 4],
            ["null", one, 6],
          ],
          ...[
            ["0", one, 6],
            ['"0"', one, 7],
            ['"null"', one, 8],
          ],
        ],
      },
    });
    const largest = grouped("* | stats p99(ms) by g");
    expect([largest.isExact, largest.table.rows[0]]).toEqual([false, [long, one, 3]]);
    expect(grouped("* | stats min(ms) by g").table.rows[0]).toEqual([long, one, 2]);
    const times = { columns: columns.slice(1), rows: [[one, 3]] };
    expect(asGroups("* | count", times)).toEqual({ isExact: true, table: times });
  });

  it("links a decision to its entries: by its notification, else by seq, else by its window", () => {
    const at = "2026-11-20T12:00:00.000Z";
    const seqRange = { from: 3, to: 9 };
    const link = "https://logs.example.com/w/ws_1/p/proj_1?q=level%3Aerror+seq%3A3..9&range=all";
    expect(decisionLink("ws_1", "proj_1", { link, seqRange, at }, null)).toBe(
      "/w/ws_1/p/proj_1?q=level%3Aerror+seq%3A3..9&range=all",
    );
    const query = (text: string | null) => new URLSearchParams(text?.split("?")[1]).get("q");
    expect(query(decisionLink("ws_1", "proj_1", { link: null, seqRange, at }, ALERT))).toBe("(level:>=error) seq:3..9");
    expect(query(decisionLink("ws_1", "proj_1", { link: null, seqRange, at }, null))).toBe("seq:3..9");
    expect(decisionLink("ws_1", "proj_1", { link: null, seqRange: null, at }, ALERT)).toContain(
      "from=2026-11-20T11%3A55%3A00.000Z",
    );
    expect(decisionLink("ws_1", "proj_1", { link: null, seqRange: null, at }, null)).toBeNull();
    expect([filterText("*"), filterText("* | count"), filterText("a OR b")]).toEqual(["", "", "(a OR b)"]);
  });
});

describe("the editor's draft", () => {
  it("is the rule that it was made from", () => {
    const read = readDraft(draftOf(ALERT));
    const { name, query, condition, window, delay, recovery, labels, message, destinations, mutes } = ALERT;
    expect(read).toEqual({
      ok: true,
      definition: { name, query, condition, window, delay, for: "1m", recovery, labels, message, destinations, mutes },
    });
    const change: Alert = {
      ...ALERT,
      condition: { kind: "change", direction: "fall", percent: 50, min: 3 },
      recovery: null,
    };
    expect(readDraft(draftOf(change))).toMatchObject({ definition: { condition: change.condition, recovery: null } });
  });

  it("has a form for every kind of condition", () => {
    const conditions: Condition[] = [
      { kind: "threshold", value: -1.5, direction: "below" },
      { kind: "absence", value: 2 },
      { kind: "rate", value: 0.5 },
      { kind: "new-pattern" },
    ];
    for (const condition of conditions) {
      const recovery = condition.kind === "new-pattern" ? null : 3;
      const alert: Alert = { ...ALERT, condition, recovery, delay: "30s" };
      expect(readDeciding(draftOf(alert))).toMatchObject({ condition, recovery, delay: "30s" });
    }
  });

  it("says what is wrong with each input", () => {
    const draft = newDraft("", []);
    expect(readDraft(draft)).toEqual({ ok: false, errors: { name: "Name the alert.", query: expect.any(String) } });
    const bad = {
      ...draft,
      name: "a",
      query: "*",
      value: "1.5.",
      recovery: "x",
      labels: [
        ["a", "1"],
        ["a ", "2"],
      ] as const,
    };
    expect(Object.keys(Reflect.get(readDraft(bad), "errors"))).toEqual(["value", "recovery", "labels"]);
    expect(readDeciding({ ...draft, query: "*", kind: "rate", value: "0.5" })).toMatchObject({
      condition: { kind: "rate", value: 0.5 },
    });
    for (const value of ["", "1e999", "ten"]) expect(readDeciding({ ...draft, query: "*", value })).toBeNull();
    expect(readDeciding({ ...draft, query: "*", kind: "change", percent: "0" })).toBeNull();
    expect(readDeciding({ ...draft, query: "*", kind: "change", min: "1.5" })).toBeNull();
  });
});

describe("states", () => {
  it("joins mutes that follow each other", () => {
    const mutes = [
      { from: "2026-11-20T13:00:00Z", to: "2026-11-20T14:00:00Z" },
      { from: "2026-11-20T11:00:00Z", to: "2026-11-20T13:00:00Z" },
    ];
    expect(mutedUntil(mutes, NOW)).toBe(Date.parse("2026-11-20T14:00:00Z"));
    expect(mutedUntil(mutes, Date.parse("2026-11-20T14:00:00Z"))).toBeNull();
  });

  it("reads hours of days of the week by the clock of their zone", () => {
    // 2026-11-20 is a Friday; in Tokyo it is 21:00.
    const mute = { days: ["fri"], start: "20:00", end: "06:00", timeZone: "Asia/Tokyo" } as const;
    expect(mutedUntil([mute], NOW)).toBe(Date.parse("2026-11-20T21:00:00Z"));
    expect(mutedUntil([{ ...mute, days: ["sat"] }], NOW)).toBeNull();
  });

  it("an alert is behind only if it stays so", () => {
    const behind = { ...ALERT, missing: 2, notCounted: 3, position: { ...ALERT.position, behind: 7 } };
    expect(notesOf(behind, NOW)).toEqual({ mutedUntil: null, behind: 0, missing: 5 });
    expect(notesOf(behind, NOW + 60_000).behind).toBe(7);
  });

  it("lists firing alerts first, then those that fired last", () => {
    const [a, b, c, d] = [
      { ...ALERT, name: "a" },
      { ...ALERT, name: "b", lastFiredAt: "2026-11-19T00:00:00Z" },
      { ...ALERT, name: "c", state: "firing" as const },
      { ...ALERT, name: "d", state: "pending" as const },
    ];
    expect(inOrder([a, b, c, d]).map(({ name }) => name)).toEqual(["c", "d", "b", "a"]);
  });
});

it("versions say what they changed, in words", () => {
  const next = { ...ALERT, window: "1h", recovery: null, destinations: ["dest_1", "dest_2"] };
  const nameOf = (id: string) => `name of ${id}`;
  const write = (member: Parameters<typeof memberText>[0], alert: Parameters<typeof memberText>[1]) =>
    memberText(member, alert, nameOf);
  expect(differences(ALERT, next, write)).toEqual([
    { member: "Window", before: "5 minutes", after: "1 hour" },
    { member: "Recovery", before: "5", after: null },
    { member: "Destinations", before: "name of dest_1", after: "name of dest_1, name of dest_2" },
  ]);
  expect(differences(null, ALERT, write)).toEqual([]);
});

it("words of conditions and durations", () => {
  expect(conditionPhrase({ kind: "absence", value: 1 })).toBe("fewer than 1");
  expect(conditionPhrase({ kind: "change", direction: "rise", percent: 50, min: 1 })).toBe("rise by 50 %");
  expect([durationText("1h"), durationText("5m"), durationText("odd")]).toEqual(["1 hour", "5 minutes", "odd"]);
  expect([durationMs("90s"), durationMs("1d"), durationMs("x")]).toEqual([90_000, 86_400_000, 0]);
});

it("tells whether firings are elsewhere than the values, as after an import", () => {
  const at = (time: string) => Date.parse(`2026-11-20T${time}:00Z`);
  const columns = ["service", "time", "count"].map((name) => ({ name, type: "" }));
  const rows = [
    ["a", "2026-11-20T10:35:00.000Z", 12],
    ["b", "2026-11-20T10:35:00.000Z", 3],
    ["a", "2026-11-20T16:05:00.000Z", 4],
  ];
  const span = { from: at("10:00"), binMs: 300_000 };
  const fires = (...times: number[]) => firesElsewhere({ columns, rows }, times, span, 10);
  expect(fires(at("10:40"))).toBe(false);
  expect(fires(at("10:43"))).toBe(false);
  expect(fires(at("10:40"), at("16:07"))).toBe(true);
  expect(fires()).toBe(false);
  // The chart begins after these, or has no more than a part of their windows.
  expect(fires(at("08:00"), at("10:00"), at("10:10"))).toBe(false);
  expect(fires(at("10:11"))).toBe(true);
  expect(firesElsewhere({ columns, rows }, [at("16:07")], span, null)).toBe(false);
});

describe("an alert in the list", () => {
  it("says whether it notifies a destination that exists", () => {
    expect(reachOf(ALERT)).toBe("some");
    expect(reachOf({ ...ALERT, destinations: [] })).toBe("none");
    expect(reachOf({ ...ALERT, missingDestinations: ["dest_1"] })).toBe("deleted");
    expect(reachOf({ ...ALERT, destinations: ["dest_1", "dest_2"], missingDestinations: ["dest_1"] })).toBe("some");
  });

  it("is idle if nothing waits and no entry has come for a while", () => {
    const position = { seq: 5, through: new Date(NOW - 60_000).toISOString(), behind: 0 };
    expect(isIdle({ position }, NOW)).toBe(true);
    expect(isIdle({ position: { ...position, behind: 1 } }, NOW)).toBe(false);
    expect(isIdle({ position: { ...position, through: new Date(NOW - 2000).toISOString() } }, NOW)).toBe(false);
  });

  it("has a small chart wherever it stands: batches have all alerts", () => {
    const alerts = Array.from({ length: 45 }, (_, n) => ({ ...ALERT, id: `alert_${n}` }));
    expect(inBatches(alerts).map(({ length }) => length)).toEqual([BATCH, BATCH, 5]);
    expect(inBatches(alerts).flat()).toEqual(alerts);
    expect(inBatches([])).toEqual([]);
  });

  it("names the length of its chart", () => {
    expect([86_400_000, 7 * 86_400_000, 3_600_000].map(lengthText)).toEqual(["24 hours", "7 days", "1 hour"]);
  });
});

it("a note that advises a further stage is not shown at a rule, which cannot have one", () => {
  const kept = "`code` has arrays: an entry counts in the group of each item.";
  const advice = "`code`: null for entries without a value. `| where code:*` behind the table leaves them out.";
  expect(notesOfRule([advice, kept])).toEqual([kept]);
});
