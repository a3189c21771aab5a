import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LogEntry } from "../../../../web/src/model/types.ts";
import { fieldsOf } from "../../../../web/src/pages/explorer/fields/field-facts.ts";
import { fieldGroups, whyUnlisted } from "../../../../web/src/pages/explorer/fields/field-groups.ts";
import { ansiParts } from "../../../../web/src/pages/explorer/results/ansi.ts";
import { cellReader } from "../../../../web/src/pages/explorer/results/cells.ts";
import { entryCurl, textOf } from "../../../../web/src/pages/explorer/results/copy-entry.ts";
import { dayStarts } from "../../../../web/src/pages/explorer/results/days.ts";
import {
  fieldsWithin,
  inlineFields,
  isServiceName,
  withoutColours,
} from "../../../../web/src/pages/explorer/results/inline-fields.ts";
import { shortNumber } from "../../../../web/src/pages/explorer/results/short-number.ts";
import { isStackTrace, stackGroups, stackLines } from "../../../../web/src/pages/explorer/results/stack-trace.ts";
import { nextElements } from "../../../../web/src/pages/explorer/results/use-row-elements.ts";
import { UndoHistory } from "../../../../web/src/pages/explorer/search/undo.ts";
import {
  columnsText,
  moved,
  readColumns,
  resized,
  withColumn,
} from "../../../../web/src/pages/explorer/view/columns.ts";

function entry(data: object, more: object = {}): LogEntry {
  const at = "2026-11-22T11:04:58.000Z";
  // SAFETY: an entry as the API returns it, with the members of `more`.
  return {
    id: "log_1",
    projectId: "proj_1",
    seq: 7,
    level: "error",
    category: "http",
    type: "request",
    message: "answered 504",
    timestamp: at,
    receivedAt: at,
    data,
    ...more,
  } as LogEntry;
}

describe("the members that rows show", () => {
  it("are those that differ, without those of the message and without ids", () => {
    const entries = Array.from({ length: 40 }, (_, index) =>
      entry(
        {
          status: index % 3,
          route: `/r/${index % 4}`,
          region: "eu",
          requestId: `req-${index}-abcdef`,
          deep: { plan: index % 2 },
        },
        { message: `answered ${index % 3}` },
      ),
    );
    const names = inlineFields(entries).map((path) => path.join("."));
    expect(names.slice(0, 2).toSorted()).toEqual(["deep.plan", "route"]);
    expect(names).not.toContain("region");
    expect(names.indexOf("requestId")).toBeGreaterThan(names.indexOf("route"));
    const paid = Array.from({ length: 20 }, (_, at) =>
      entry({
        parentSpanId: `9f8e7d6c5b4a39${20 + at}`,
        ref: `00c0ffee0000${10 + at}`,
        provider: at % 3 ? "nordpay" : "cardline",
      }),
    );
    expect(inlineFields(paid)).toEqual([["provider"]]);
    // Of entries that are alike, what they have in common is of use, but not what the message says already.
    const started = (version: string, nordpay: number) =>
      Array.from({ length: 3 }, () =>
        entry({ version, timeoutMs: { nordpay } }, { message: `payments ${version} started` }),
      );
    expect(inlineFields(started("5.8.0", 300))).toEqual([["timeoutMs", "nordpay"]]);
    // Of one entry all are of use.
    expect(inlineFields([entry({ a: 1, b: "x" })])).toHaveLength(2);
    expect(inlineFields([])).toEqual([]);
  });

  it("are more in a wide list, and never the service that has a column", () => {
    expect([0, 360, 1136, 1544, 2184, 9999].map(fieldsWithin)).toEqual([6, 6, 6, 7, 12, 14]);
    const services = [["service"], ["service", "name"], ["service.name"]];
    expect([...services, ["service", "version"], ["name"]].filter(isServiceName)).toEqual(services);
  });

  it("round numbers with many digits in rows, and only there", () => {
    const each = entry({ ms: 293.83719275860204, number: 12345678901, text: "293.83719275860204" });
    expect(cellReader("ms")(each)).toEqual({ text: "293.837", exact: "293.83719275860204", isNumber: true });
    expect(cellReader("number")(each)).toEqual({ text: "12345678901", exact: "12345678901", isNumber: true });
    expect(cellReader("data.text")(each)).toMatchObject({ text: "293.83719275860204", isNumber: false });
    expect([0.1 + 0.2, -0.000123456789, 1795824487.123, 1.5, 1e21, 5e-324].map(shortNumber)).toEqual([
      ...["0.3", "-0.000123457", "1795824487", "1.5", "1e+21", "5e-324"],
    ]);
    fc.assert(
      fc.property(fc.double(), (value) => {
        const near = Number(shortNumber(value));
        expect(Object.is(near, value) || Math.abs(near - value) <= Math.abs(value) * 1e-5).toBe(true);
      }),
    );
  });

  it("are read as queries read them", () => {
    const each = entry(
      { user: { plan: "team" }, "http.status": 504, list: [{ id: 5 }], level: "x" },
      { traceId: "t1" },
    );
    const read = (name: string): string => cellReader(name)(each).text;
    expect(read("user.plan")).toBe("team");
    expect(read("http.status")).toBe("504");
    expect(read("list.id")).toBe("5");
    expect(read("data.level")).toBe("x");
    expect([read("level"), read("trace"), read("host"), read("nothing")]).toEqual(["error", "t1", "", ""]);
  });
});

describe("the elements of rows", () => {
  type RowElements = ReturnType<typeof nextElements>;
  /** Entries by name, and the element of each. */
  const shown = (entries: string, before: RowElements = new Map(), pinned = ""): RowElements =>
    nextElements(before, [...entries], (key) => pinned.includes(String(key)));
  const text = (elements: RowElements) => [...elements].map(([key, element]) => `${key}${element}`).join(" ");
  const first = shown("abcd");

  it("stay with their entries, and those of entries that leave show others", () => {
    expect(text(first)).toBe("a0 b1 c2 d3");
    expect(text(shown("cdef", first))).toBe("c2 d3 e0 f1");
    expect(text(shown("xab", first))).toBe("x2 a0 b1");
    // Without a common entry no element moves.
    expect(text(shown("wxyz", first))).toBe("w0 x1 y2 z3");
    expect(text(shown("abcdef", first))).toBe("a0 b1 c2 d3 e4 f5");
  });

  it("that are pinned show no other entry, and those before and after them stay there", () => {
    expect(text(shown("wxyz", first, "b"))).toBe("w0 x2 y3 z4");
    expect(text(shown("wxb", first, "b"))).toBe("w0 x4 b1");
    expect(text(shown("bwx", first, "b"))).toBe("b1 w2 x3");
    expect(text(shown("wcx", first, "bc"))).toBe("w0 c2 x3");
    expect(text(shown("cx", first, "abcd"))).toBe("c2 x4");
  });

  it("are one for each entry, whatever comes and goes", () => {
    const names = fc.uniqueArray(fc.constantFrom(..."abcdefghij"), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.tuple(names, names), { maxLength: 12 }), (steps) => {
        let elements: RowElements = new Map();
        for (const [keys, pinned] of steps) {
          const next = nextElements(elements, keys, (key) => pinned.includes(String(key)));
          expect([...next.keys()]).toEqual(keys);
          expect(new Set(next.values()).size).toBe(keys.length);
          for (const [key, element] of elements) {
            if (next.has(key)) expect(next.get(key)).toBe(element);
            else if (pinned.includes(String(key))) expect([...next.values()]).not.toContain(element);
          }
          elements = next;
        }
      }),
    );
  });
});

describe("columns", () => {
  const field = fc.oneof(
    fc.constantFrom("status", "user.id", "data.level"),
    fc.string().map((text) => JSON.stringify(text)),
  );
  const columns = fc.uniqueArray(fc.record({ field, width: fc.integer({ min: 48, max: 800 }) }), {
    selector: (each) => each.field,
    maxLength: 8,
  });

  it("survive the address", () => {
    fc.assert(
      fc.property(columns, (each) => {
        expect(readColumns(columnsText(each))).toEqual(each);
      }),
    );
    expect(readColumns('a:,"b')).toBeNull();
    expect(readColumns(`${"x".repeat(600)}`)).toBeNull();
    expect(readColumns("a:1")).toEqual([{ field: "a", width: 48 }]);
    fc.assert(fc.property(fc.string(), (text) => void readColumns(text)));
  });

  it("are added, moved, resized and removed", () => {
    const three = ["a", "b", "c"].reduce(withColumn, []);
    expect(moved(three, "a", 1).map((each) => each.field)).toEqual(["b", "a", "c"]);
    expect(moved(three, "a", 9).map((each) => each.field)).toEqual(["b", "c", "a"]);
    expect(moved(three, "c", -9).map((each) => each.field)).toEqual(["c", "a", "b"]);
    expect(resized(three, "b", 10_000)[1]).toEqual({ field: "b", width: 800 });
    expect(withColumn(three, "b").map((each) => each.field)).toEqual(["a", "c"]);
  });
});

describe("colours of a terminal", () => {
  it("are parts of the text, and all other control sequences are left out", () => {
    expect(ansiParts("a\u001b[31mred\u001b[1;4mbold\u001b[0m\u001b[2Kend")).toEqual([
      { text: "a", colour: null, isBold: false, isFaint: false, isUnderlined: false },
      { text: "red", colour: "red", isBold: false, isFaint: false, isUnderlined: false },
      { text: "bold", colour: "red", isBold: true, isFaint: false, isUnderlined: true },
      { text: "end", colour: null, isBold: false, isFaint: false, isUnderlined: false },
    ]);
    expect(ansiParts("\u001b[38;5;196mx\u001b[38;2;0;200;0my\u001b[48;5;1mz").map(({ colour }) => colour)).toEqual([
      "red",
      "green",
      "green",
    ]);
  });

  it("lose no character, whatever the text is", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("\u001b", "[", "3", "1", ";", "m", "x", " ") }), (text) => {
        const shown = ansiParts(text)
          .map((part) => part.text)
          .join("");
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with one.
        expect(shown).toBe(text.replaceAll(/\u001b\[[0-9;:]*[@-~]/g, ""));
      }),
    );
  });
});

describe("stack traces", () => {
  const V8 = [
    "TypeError: x is not a function",
    "    at node:internal/process/task_queues:95:5",
    "    at retry (/app/node_modules/p-retry/index.js:5:1)",
    "    at charge (/app/src/pay/charge.ts:41:7)",
    "    at main (/app/src/main.ts:3:1)",
  ].join("\n");

  it("are folded to the frames of the application, the first of which is marked", () => {
    expect(isStackTrace(V8)).toBe(true);
    expect(stackLines(V8).map(({ kind, isFirst }) => (isFirst ? "first" : kind))).toEqual([
      "text",
      "library",
      "library",
      "first",
      "own",
    ]);
    expect(stackGroups(stackLines(V8)).map((group) => group.length)).toEqual([1, 2, 1, 1]);
  });

  it.each([
    [
      "Python",
      'Traceback (most recent call last):\n  File "/app/main.py", line 3, in <module>\n    run()\n  File "/app/pay.py", line 9, in run\n    charge()\n  File "/usr/lib/python3/site-packages/x.py", line 1, in charge\n    raise E()\nE: no',
      "/app/pay.py",
    ],
    [
      "Java",
      "java.lang.IllegalStateException: no\n\tat java.base/java.util.X.y(X.java:1)\n\tat org.springframework.A.b(A.java:2)\n\tat com.shop.Pay.charge(Pay.java:41)",
      "com.shop.Pay",
    ],
    [
      "Go",
      "panic: no\n\ngoroutine 1 [running]:\nruntime.x()\n\t/usr/local/go/src/runtime/panic.go:5\nmain.charge()\n\t/app/pay.go:41 +0x1",
      "/app/pay.go",
    ],
  ])("of %s mark the frame that is nearest to the fault", (_, text, wanted) => {
    expect(isStackTrace(text)).toBe(true);
    expect(stackLines(text).find(({ isFirst }) => isFirst)?.text).toContain(wanted);
  });

  it("are no other texts", () => {
    for (const text of ["a\nb\nc", "at home", "one line at x (y)", "list:\n- at a\n- at b"])
      expect(isStackTrace(text)).toBe(false);
  });
});

describe("a copied entry", () => {
  it("is a line of text", () => {
    expect(textOf(entry({ status: 504, note: 'a "b"', list: [1] }))).toBe(
      '2026-11-22T11:04:58.000Z ERROR http/request answered 504 status=504 note="a \\"b\\"" list="[1]"',
    );
  });

  it("is a command that no shell expands", () => {
    const command = entryCurl("https://x.test", entry({}, { id: "$(rm)'" }));
    expect(command).not.toContain("$(rm)");
    expect(command).toContain("TAFFRAIL_API_KEY");
  });
});

describe("the history of a text", () => {
  it("undoes words, and what was written into it", () => {
    const edits = new UndoHistory("");
    let at = 0;
    const type = (text: string): void => {
      at += 100;
      edits.put({ text, position: text.length }, at);
    };
    for (const text of ["a", "ab", "ab ", "ab c"]) type(text);
    edits.put({ text: "level:error", position: 11 }, null);
    expect(edits.undo()?.text).toBe("ab c");
    expect(edits.undo()?.text).toBe("ab");
    expect(edits.redo()?.text).toBe("ab c");
    expect(edits.undo()?.text).toBe("ab");
    expect(edits.undo()?.text).toBe("");
    expect(edits.undo()).toBeNull();
    type("x");
    expect(edits.redo()).toBeNull();
  });
});

describe("texts without the colours of terminals", () => {
  it("are those of values in a line, of columns and of patterns", () => {
    expect(withoutColours("\u001b[34mblue\u001b[0m [34m")).toBe("blue [34m");
    // The patterns of the service have marks in place of the numbers.
    expect(withoutColours("\u001b[<N>m✓\u001b[<N>;<N>m <N> passed")).toBe("✓ <N> passed");
    expect(cellReader("out")(entry({ out: "\u001b[1;34mblue\u001b[0m" })).text).toBe("blue");
  });
});

describe("the fields of a query", () => {
  it("are read from the table of facets, and grouped by what they tell", () => {
    const rows = [
      ["level", "string", 10, "error", 6],
      ["level", "string", 10, "warn", 4],
      ["region", "string", 10, "eu", 10],
      ["status", "number", 8, 504, 5],
      ["status", "number", 8, 200, 3],
      ["gone", "null", 3, null, null],
      ["exception", "string", 10, null, null],
    ];
    const fields = fieldsOf({ rows, matched: 10, complete: true });
    expect(fields.fields.map(({ name, values }) => [name, values.length])).toEqual([
      ["level", 2],
      ["region", 1],
      ["status", 2],
      ["gone", 0],
      ["exception", 0],
    ]);
    const titles = fieldGroups(fields, "").map(({ title, fields }) => [title, fields.map(({ name }) => name)]);
    expect(titles).toEqual([
      ["Entry", ["level"]],
      // A field whose values are not listed has its actions, too.
      ["Fields that vary", ["status", "exception", "gone"]],
      ["One value", ["region"]],
    ]);
    expect(fields.fields.map(whyUnlisted).filter((why) => why !== null)).toEqual([
      "Always null or empty",
      "Texts too long to count",
    ]);
    expect(fieldGroups(fields, "STAT").flatMap((group) => group.fields.map(({ name }) => name))).toEqual(["status"]);
  });
});

describe("days of a list", () => {
  const starts = (times: string[], zone: string): number[] =>
    dayStarts(
      times.map((timestamp) => ({ timestamp })),
      zone,
    );

  it("begin where the chosen zone's date changes, in both orders", () => {
    const times = [
      "2026-11-27T23:30:00.000Z",
      "2026-11-27T22:59:59.999Z",
      "2026-11-27T00:00:00.000Z",
      "2026-11-26T23:59:59.999Z",
      "2025-11-26T23:59:59.999Z",
    ];
    expect(starts(times, "UTC")).toEqual([3, 4]);
    expect(starts(times, "Europe/Berlin")).toEqual([1, 4]);
    expect(starts(times.toReversed(), "UTC")).toEqual([1, 2]);
    expect(starts(times.toReversed(), "Europe/Berlin")).toEqual([1, 4]);
    expect(starts([], "UTC")).toEqual([]);
  });

  const hours = (from: string, count: number): string[] =>
    Array.from({ length: count }, (_, hour) => new Date(Date.parse(from) + hour * 3_600_000).toISOString());

  it("begin once where the clock leaves midnight out, or shows it twice", () => {
    // The local day before begins each list; the clock changes at the end of it.
    for (const [from, zone, length] of [
      ["2026-03-07T05:00:00Z", "America/Havana", 23],
      ["2026-09-05T04:00:00Z", "America/Santiago", 23],
      ["2026-03-28T01:00:00Z", "Atlantic/Azores", 23],
      ["2026-04-22T22:00:00Z", "Africa/Cairo", 23],
      ["2026-10-31T04:00:00Z", "America/Havana", 25],
      ["2021-10-27T21:00:00Z", "Asia/Amman", 25],
    ] as const) {
      const times = hours(from, 24 + length + 1);
      const [first, second] = [24, 24 + length];
      expect(starts(times, zone), zone).toEqual([first, second]);
      expect(starts(times.toReversed(), zone), zone).toEqual([1, 1 + length]);
    }
  });

  it("have 23 and 25 hours where the clock is changed", () => {
    expect(starts(hours("2026-03-28T23:00:00Z", 50), "Europe/Berlin")).toEqual([23, 47]);
    expect(starts(hours("2026-10-24T22:00:00Z", 50), "Europe/Berlin")).toEqual([25, 49]);
  });
});
