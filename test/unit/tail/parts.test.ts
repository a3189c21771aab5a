import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newId } from "../../../src/ids.ts";
import { logId } from "../../../src/logs/entry-view.ts";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { AckWindow, readMessage } from "../../../src/tail/acks.ts";
import { authorityText, newTicket, openTicket, readAuthority } from "../../../src/tail/authority.ts";
import { readTailFilter, tailFilterText } from "../../../src/tail/filter.ts";
import { entriesOf, framesOf } from "../../../src/tail/frames.ts";
import { TAIL_LIMITS } from "../../../src/tail/limits.ts";
import { toLogFilter } from "../../../src/tail/log-filter.ts";
import { readTailQuery } from "../../../src/tail/query.ts";
import { entryAt, time } from "../query/arbitraries.ts";
import { bodyOf } from "../query/store.ts";
import { EVERYTHING } from "./support.ts";

describe("the ack window", () => {
  const action = fc.oneof(
    fc.record({
      kind: fc.constant("send" as const),
      entries: fc.integer({ min: 1, max: 500 }),
      bytes: fc.integer({ min: 10, max: 500_000 }),
      passedOver: fc.nat({ max: 2000 }),
    }),
    fc.record({ kind: fc.constant("ack" as const), part: fc.double({ min: 0, max: 2, noNaN: true }) }),
    fc.record({ kind: fc.constant("forget" as const) }),
  );

  it("closes exactly when a count of every entry would, if every entry is sent", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 300 }), (actions) => {
        let window = new AckWindow();
        let [sent, acked] = [0, 0];
        for (const each of actions) {
          if (each.kind === "send") {
            const fits = window.verdict(each.entries, each.entries) === "fits";
            expect(fits).toBe(sent === acked || sent - acked + each.entries <= TAIL_LIMITS.unackedEntries);
            if (!fits) continue;
            window.sent(sent, sent + each.entries, each.entries, each.entries);
            sent += each.entries;
          } else if (each.kind === "ack") {
            // Acknowledges up to `each.part` of what was sent, which may be more than was sent.
            const seq = Math.floor(each.part * sent);
            acked = Math.max(acked, Math.min(seq, sent));
            window.acked(seq);
          } else window = new AckWindow(structuredClone(window.state));
          expect([window.room, window.bytes]).toEqual([TAIL_LIMITS.unackedEntries - (sent - acked), sent - acked]);
          expect(window.state.length).toBeLessThanOrEqual(1 + 3 * 45);
        }
      }),
    );
  });

  it("counts unacknowledged entries with a filter, except for part of the frames that share a mark", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 100 }), (actions) => {
        let window = new AckWindow();
        let [place, acked] = [0, 0];
        const frames: { through: number; entries: number; bytes: number }[] = [];
        for (const each of actions) {
          if (each.kind === "send") {
            const { entries, bytes, passedOver } = each;
            const through = place + passedOver + entries;
            window.sent(place, through, entries, bytes);
            place = through;
            frames.push({ through, entries, bytes });
          } else if (each.kind === "ack") {
            // May be more than was sent, which does not acknowledge later entries.
            const seq = Math.floor(each.part * place);
            acked = Math.max(acked, Math.min(seq, place));
            window.acked(seq);
          } else window = new AckWindow(structuredClone(window.state));
          const left = frames.filter(({ through }) => through > acked);
          const entries = left.reduce((sum, frame) => sum + frame.entries, 0);
          const counted = TAIL_LIMITS.unackedEntries - window.room;
          if (entries < TAIL_LIMITS.unackedEntries) expect(Math.abs(counted - entries)).toBeLessThanOrEqual(500);
          // A mark that is acknowledged in part counts whole. Nothing counts when everything is acknowledged.
          if (left.length === 0) expect([counted, window.bytes]).toEqual([0, 0]);
          else expect(window.bytes).toBeGreaterThan(0);
        }
      }),
    );
  });

  it("releases only the acknowledged one of many large frames", () => {
    const window = new AckWindow();
    for (let seq = 0; seq < 30; seq++) window.sent(seq, seq + 1, 1, 500_000);
    window.acked(1);
    expect(window.bytes).toBe(29 * 500_000);
    expect(window.verdict(3, 2_500_000)).toBe("ask");
    window.acked(Number.MAX_SAFE_INTEGER);
    expect([window.bytes, window.room, window.state]).toEqual([0, TAIL_LIMITS.unackedEntries, []]);
  });
});

describe("entries in frames", () => {
  it("are the JSON that a query returns", () => {
    fc.assert(
      fc.property(
        fc.array(entryAt(time), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 10 ** 9 }),
        (list, first) => {
          const projectId = newId("proj");
          const unit = { body: bodyOf(list), seqAt: (i: number) => first + i, receivedAtOf: () => 1_800_000_000_000 };
          const matcher = new BatchMatcher(toLogFilter(EVERYTHING, null));
          const found = entriesOf([unit], matcher, projectId, { after: first, until: first + 3 }, null);
          const lines = new TextDecoder().decode(unit.body).split("\n");
          const wanted = lines.flatMap((line, i) => {
            const seq = first + i;
            if (seq <= first || seq > first + 3) return [];
            const receivedAt = new Date(1_800_000_000_000).toISOString();
            return [JSON.stringify({ id: logId(projectId, seq), ...JSON.parse(line), seq, projectId, receivedAt })];
          });
          expect(found.map(({ text }) => text)).toEqual(wanted);
        },
      ),
    );
  });

  it("are in order of seq, also if line sources overlap", () => {
    const matcher = new BatchMatcher(toLogFilter(EVERYTHING, null));
    const one = { timestamp: 0, level: "info" as const, category: "custom", type: "log", message: "m" };
    const unit = (seqs: number[]) => ({
      body: bodyOf(seqs.map(() => one)),
      seqAt: (i: number) => seqs[i] ?? 0,
      receivedAtOf: () => 0,
    });
    const found = entriesOf([unit([1, 4, 5]), unit([2, 3, 6])], matcher, newId("proj"), { after: 1, until: 5 }, null);
    expect(found.map(({ seq }) => seq)).toEqual([2, 3, 4, 5]);
  });
});

describe("frames", () => {
  const entries = (count: number, length = 10) =>
    Array.from({ length: count }, (_, i) => ({ seq: i + 1, text: JSON.stringify("x".repeat(length)) }));

  it("hold at most 500 entries and 128 KiB of characters, or one larger entry", () => {
    expect(framesOf(entries(1001), 1001).frames.map((frame) => frame.entries)).toEqual([500, 500, 1]);
    expect(framesOf(entries(5, 50_000), 5).frames.map((frame) => frame.entries)).toEqual([2, 2, 1]);
    expect(framesOf(entries(2, 600_000), 2).frames.map((frame) => frame.entries)).toEqual([1, 1]);
  });

  it("state up to which seq they are complete", () => {
    expect(framesOf([], 7)).toEqual({ frames: [], through: 7 });
    expect(framesOf(entries(3), 7).through).toBe(7);
    const cut = framesOf(entries(3), 7, { entries: 2, characters: 1e9 });
    expect([cut.through, cut.frames.map(({ through }) => through)]).toEqual([2, [2]]);
    expect(framesOf(entries(3), 7, { entries: 3, characters: 1e9 }).through).toBe(7);
    const large = framesOf(entries(5, 50_000), 7, { entries: 5, characters: 112_500 });
    expect([large.through, large.frames.map(({ through }) => through)]).toEqual([3, [2, 3]]);
    expect(framesOf(entries(2, 200_000), 7, { entries: 5, characters: 10 }).through).toBe(1);
  });
});

describe("a client's message", () => {
  it("is an acknowledgement or invalid", () => {
    expect(readMessage('{"type":"ack","seq":5}')).toEqual({ type: "ack", seq: 5 });
    expect(readMessage('{"type":"ack","seq":0,"more":1}')).toEqual({ type: "ack", seq: 0 });
    const bad = [
      "",
      "null",
      "5",
      "[]",
      "{",
      '{"type":"ack"}',
      '{"type":"nack","seq":1}',
      '{"type":"ack","seq":-1}',
      '{"type":"ack","seq":1.5}',
      '{"type":"ack","seq":"1"}',
      '{"type":"ack","seq":1e300}',
      `{"type":"ack","seq":1,"x":"${"x".repeat(1024)}"}`,
      new ArrayBuffer(4),
    ];
    for (const message of bad) expect([message, readMessage(message)]).toEqual([message, null]);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (text) => {
        readMessage(text);
      }),
    );
  });
});

describe("a tail's query", () => {
  const read = (text: string) => readTailQuery(new URLSearchParams(text));
  const paths = (text: string) => {
    const result = read(text);
    return result.ok ? [] : result.details.map(({ path }) => path);
  };

  it("has equal texts for equal filters", () => {
    const texts = ["type=b&type=a&minLevel=warn", "minLevel=warn&type=a&type=b&type=a&since=7"].map((text) =>
      read(text),
    );
    expect(texts.map((result) => result.ok && result.query.filter)).toEqual([expect.any(String), expect.any(String)]);
    const [first, second] = texts.map((result) => (result.ok ? result.query : null));
    expect(first?.filter).toBe(second?.filter);
    expect([first?.since, second?.since]).toEqual([null, 7]);
    expect(readTailFilter(first?.filter ?? "")).toMatchObject({ levelMask: 0b1110000, types: ["a", "b"] });
    expect(tailFilterText(readTailFilter(first?.filter ?? ""))).toBe(first?.filter);
  });

  it("reports every invalid parameter", () => {
    expect(paths("")).toEqual([]);
    expect(paths("level=info&level=warn&category=http&search=%C3%A9&since=0&ticket=x")).toEqual([]);
    expect(paths("nope=1")).toEqual(["query.nope"]);
    expect(paths("__proto__=1&constructor=2")).toEqual(["query.__proto__", "query.constructor"]);
    expect(paths("data=1&from=2&to=3")).toEqual(["query.data", "query.from", "query.to"]);
    expect(paths("level=loud")).toEqual(["query.level"]);
    expect(paths("since=-1")).toEqual(["query.since"]);
    expect(paths("since=1.5")).toEqual(["query.since"]);
    expect(paths("since=9999999999999999")).toEqual(["query.since"]);
    expect(paths("session=a&session=b")).toEqual(["query.session"]);
    expect(paths("search=")).toEqual(["query.search"]);
    expect(paths(`session=${"x".repeat(1024)}`)).toEqual(["query"]);
  });
});

describe("tickets and authorities", () => {
  it("are decoded as they were encoded", () => {
    const workspaceId = newId("ws");
    const ticket = newTicket(workspaceId);
    expect(openTicket(ticket)).toEqual({ workspaceId, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    for (const bad of ["", "tt_", ticket.slice(1), `${ticket}x`, ticket.slice(0, -1), `${ticket.slice(0, -1)}-`]) {
      expect(openTicket(bad)).toBeNull();
    }
    const user = { kind: "user", userId: newId("usr"), sessionId: newId("fam") } as const;
    for (const authority of [user, { kind: "key", hash: "a".repeat(64) } as const]) {
      expect(readAuthority(authorityText(authority))).toEqual(authority);
    }
  });
});
