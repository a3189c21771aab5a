import fc from "fast-check";
import { entryAt, time } from "../query/arbitraries.ts";
import { lineOf } from "../query/store.ts";
import { line } from "./support.ts";

/** Lines that columns cannot give back, and one that is not UTF-8. */
const ODD_LINES = [
  line('{"a":1.0,"b":"Timeout"}', { session: "s1" }, 1),
  line('{"a":12345678901234567890}', {}, 2),
  line('{"a":"\\ud83d","0":-0}', { message: "\ud83d abc" }, 3),
  line('{"a": 1}', {}, 4),
  Buffer.from(line({ a: "~", b: 504 }, { message: "als" }, 5)).map((byte: number) => (byte === 0x7e ? 0xff : byte)),
];

/** Entries with few members and values, so that columns, dictionaries and several types of a path occur. */
const regular = fc
  .record(
    {
      n: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constantFrom(0.5, 504, -1, 1e21)),
      t: fc.constantFrom("Timeout", "timeout \u0130", "\u212a", "abc", "", "ж", "50"),
      b: fc.boolean(),
      m: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("1", "x", true, null)),
      o: fc.oneof(fc.record({ p: fc.constantFrom(1, "q", null), "q.r": fc.boolean() }), fc.constantFrom(null, 1)),
      list: fc.array(fc.constantFrom(1, "Timeout", true), { maxLength: 2 }),
    },
    { requiredKeys: ["n", "b"] },
  )
  .chain((data) => entryAt(time).map((entry) => ({ ...entry, message: `GET /${data.n} Timeout`, data })));
/** Entries of few services, some of which have a member of `data` of that name, too. */
const served = fc
  .record(
    {
      service: fc.constantFrom("checkout", "search", 'a"b'),
      host: fc.constantFrom("web-1", "504"),
      inner: fc.constantFrom<unknown>("checkout", { name: "search", version: 2 }, 504, null),
    },
    { requiredKeys: ["service"] },
  )
  .chain(({ inner, ...own }) =>
    regular.map(({ service: _service, host: _host, data, ...entry }) => ({
      ...entry,
      ...own,
      data: inner === undefined ? data : { ...data, service: inner },
    })),
  );
const oddLine = fc.constantFrom<string | Uint8Array>(...ODD_LINES);
const hostileLine = fc.oneof({ weight: 12, arbitrary: entryAt(time).map(lineOf) }, { weight: 1, arbitrary: oddLine });
const regularLine = fc.oneof({ weight: 60, arbitrary: regular.map(lineOf) }, { weight: 1, arbitrary: hostileLine });
/** Lines of files of any kind, hostile and regular ones. */
export const anyLines = fc.oneof(
  fc.array(hostileLine, { minLength: 1, maxLength: 60 }),
  fc.array(regular.map(lineOf), { minLength: 1, maxLength: 80 }),
  fc.array(fc.oneof(served, regular).map(lineOf), { minLength: 1, maxLength: 80 }),
  fc.array(regularLine, { minLength: 1, maxLength: 80 }),
);
