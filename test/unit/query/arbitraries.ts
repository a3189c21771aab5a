import fc from "fast-check";
import { BUILT_IN_CATEGORIES, CATEGORY_TYPES, LEVELS } from "../../../src/logs/entry.ts";
import type { TestEntry } from "./store.ts";

/** Text with special behaviour under lower-casing, JSON or UTF-8. */
const NASTY = [
  "İ",
  "i̇",
  "I",
  "i",
  "ı",
  "\u212a",
  "\u212b",
  "\u0307",
  "K",
  "k",
  "Å",
  "å",
  "ß",
  "ẞ",
  "SS",
  "Σ",
  "ς",
  "σ",
  "ΑΣ",
  "ας",
  "Ϊ",
  "ﬁ",
  "Ǆ",
  "ǅ",
  "ǆ",
  "Ж",
  "ж",
  "ϴ",
  "θ",
  "Θ",
  "Ω",
  "ω",
  "\n",
  "\\n",
  "\\",
  '"',
  "/",
  "\b",
  "\t",
  "\u0000",
  "\u001f",
  "u001f",
  "\u007f",
  "\u00ad",
  "\u2028",
  "😀",
  "\ud83d",
  "\ude00",
  "\\ud83d",
  "𐐀",
  "𐐨",
  "\ud801",
  "\udc28",
  "漢字",
  "é",
  "É",
  "e\u0301",
  ".",
  ",",
  ":",
  "{",
  "}",
  "[",
  "]",
  "^",
  "$",
  "*",
  "+",
  "?",
  "(",
  ")",
  "|",
  "-",
  "abc",
  "ABC",
  "Timeout",
  "TIMEOUT",
  "null",
  "true",
  "false",
  "als",
  "1",
  "50",
  "504",
  "0.",
  "e+2",
  "E+2",
  "-1",
  " ",
];

export const nastyText: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...NASTY) }, fc.string({ unit: "binary", maxLength: 3 })), {
    maxLength: 5,
  })
  .map((parts) => parts.join(""));

const memberName = fc.constantFrom(
  "a",
  "b",
  "a.b",
  "0",
  "1",
  "length",
  "__proto__",
  "constructor",
  "toString",
  "ж\n",
  "",
  '"',
  "service",
  "host",
);

const scalar = fc.oneof(
  nastyText,
  fc.constantFrom(0, 1, -1, 1.5, 10, 100, 504, -50.45, 0.1, 1e21, -1.5e21, 1e-7, -0),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);

/** Sets own members whatever their name: in an object literal, `__proto__` would be the prototype. */
const record = (value: fc.Arbitrary<unknown>) =>
  fc.array(fc.tuple(memberName, value), { maxLength: 4 }).map((members) => Object.fromEntries(members));

const { value: dataValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    record(tie("value")),
  ),
}));

const builtIn = fc
  .constantFrom(...BUILT_IN_CATEGORIES)
  .chain((category) =>
    fc.record({ category: fc.constant<string>(category), type: fc.constantFrom<string>(...CATEGORY_TYPES[category]) }),
  );
const ownName = fc.oneof(
  fc.constantFrom("custom", 'a","type":"b', "http ", "ж", "log"),
  nastyText.filter((text) => text !== ""),
);
const kind = fc.oneof(builtIn, fc.record({ category: ownName, type: ownName }));

const sessionId = fc.oneof(fc.constantFrom("s1", "s2", 's"1'), nastyText);

/** Values of `service` and `host`. */
const ownText = fc.oneof(
  fc.constantFrom("s1", "checkout", 's"1', "504"),
  nastyText.filter((text) => text !== ""),
);

/** Few different times, so that many are equal; some in other minutes and years. */
export const time = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1_795_183_259_990, max: 1_795_183_260_010 }) },
  fc.constantFrom(0, 999, 59_999, 60_000, 1_795_183_200_000, 253_370_764_800_000),
);

export function entryAt(timestamps: fc.Arbitrary<number>): fc.Arbitrary<TestEntry> {
  return fc
    .record(
      {
        timestamp: timestamps,
        level: fc.constantFrom(...LEVELS),
        kind,
        message: nastyText.map((text) => text || "empty"),
        session: sessionId,
        traceId: sessionId,
        service: ownText,
        host: ownText,
        data: record(dataValue),
      },
      { requiredKeys: ["timestamp", "level", "kind", "message"] },
    )
    .map(({ kind: { category, type }, ...entry }) => ({ ...entry, category, type }));
}

/** One test on one path, with the path's names for the reference. */
export interface DataTest {
  names: string[];
  text: string;
  test: unknown;
}

const path = fc.array(fc.oneof({ weight: 5, arbitrary: memberName }, fc.constantFrom("2", "01")), {
  minLength: 1,
  maxLength: 3,
});

/** Quotes names in brackets if necessary, and sometimes if not. */
function writePath(names: readonly string[], quoteAll: boolean): string {
  return names.reduce((text, name, index) => {
    if (quoteAll || name === "" || /[.[\]]/.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return index === 0 ? name : `${text}.${name}`;
  }, "");
}

const bound = fc.oneof(fc.constantFrom(0, 1, 1.5), nastyText);
const operators = fc
  .record(
    {
      eq: scalar,
      ne: scalar,
      gt: bound,
      gte: bound,
      lt: bound,
      lte: bound,
      in: fc.array(scalar, { minLength: 1, maxLength: 3 }),
      exists: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  .filter((tests) => Object.keys(tests).length > 0);
const oneOperator = operators.map((tests) => Object.fromEntries(Object.entries(tests).slice(0, 1)));

export const dataTest: fc.Arbitrary<DataTest> = fc
  .record({ names: path, quoteAll: fc.boolean(), test: fc.oneof(scalar, oneOperator, operators) })
  .map(({ names, quoteAll, test }) => ({ names, text: writePath(names, quoteAll), test }));

/** The filters of a request's body without `data`, whose tests the reference gets with their names. */
export interface TestFilters {
  level?: string | string[];
  category?: string | string[];
  type?: string | string[];
  minLevel?: string;
  session?: string;
  traceId?: string;
  service?: string | string[];
  host?: string | string[];
  from?: number | string;
  to?: number | string;
  search?: string;
}

const oneOrMore = (value: fc.Arbitrary<string>) => fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 3 }));
const level = fc.constantFrom<string>(...LEVELS);
const timeInput = fc.oneof(
  time,
  time.map((ms) => new Date(ms).toISOString()),
);
const needle = fc.oneof(
  nastyText,
  nastyText.map((text) => text.toUpperCase()),
  nastyText.map((text) => text.slice(1)),
  nastyText.map((text) => text.slice(0, 2)),
);

export const filters: fc.Arbitrary<TestFilters> = fc.record(
  {
    level: oneOrMore(level),
    category: oneOrMore(kind.map(({ category }) => category)),
    type: oneOrMore(kind.map(({ type }) => type)),
    minLevel: level,
    session: sessionId,
    traceId: sessionId,
    from: timeInput,
    to: timeInput,
    search: needle.filter((text) => text !== ""),
  },
  { requiredKeys: [] },
);

/** Mostly one or two filters, because all of them together match nothing. */
export const fewFilters = fc.tuple(filters, fc.nat({ max: 3 }), fc.array(fc.nat())).map(([all, count, order]) => {
  const members = Object.entries(all).map((member, index) => ({ member, rank: order[index] ?? index }));
  const kept = members.sort((a, b) => a.rank - b.rank).slice(0, count);
  return Object.fromEntries(kept.map(({ member }) => member)) as TestFilters;
});

/** With filters that the query language expresses, for tests that give the places of entries. */
export const anyFilters: fc.Arbitrary<TestFilters> = fc.oneof(
  { weight: 3, arbitrary: fewFilters },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fewFilters, fc.record({ service: oneOrMore(ownText), host: oneOrMore(ownText) }, { requiredKeys: [] }))
      .map(([some, own]) => ({ ...some, ...own })),
  },
);
