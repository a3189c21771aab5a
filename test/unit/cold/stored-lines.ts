import fc from "fast-check";
import { entryAt, nastyText, time } from "../query/arbitraries.ts";
import { lineOf } from "../query/store.ts";

/** Lines that a body may contain: those of ingest, and those that a damaged disk or an older writer could produce. */

const text = fc.oneof(
  nastyText,
  fc.constantFrom(
    "GET /api/v1/orders/17 completed with status 200",
    "completed",
    'line\n\tbreak "quoted" C:\\temp',
    "\u001b[31mred\u001b[0m and \u007f",
    "Ünïcode Text",
  ),
);
const number = fc.oneof(
  fc.double(),
  fc.float(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(0, 0.000001, 0.0000001, 1e21, 0.1 + 0.2, 99_999_999_999_999.9, 123_456_789_012_345_680),
);
const name = fc.oneof(fc.constantFrom("a", "b", "userId", "route", "0", "1", "__proto__", "é", 'x"y', ""), text);
const record = (value: fc.Arbitrary<unknown>) =>
  fc.array(fc.tuple(name, value), { maxLength: 5 }).map((members) => Object.fromEntries(members));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    record(tie("value")),
  ),
}));

/** Members in the order in which ingest writes them. */
const entry = fc.tuple(entryAt(time), text, fc.option(record(value), { nil: undefined })).map(
  ([made, message, data]): Record<string, unknown> => ({
    ...JSON.parse(lineOf({ ...made, category: made.category.toWellFormed(), type: made.type.toWellFormed() })),
    message,
    ...(data !== undefined && { data }),
  }),
);

const json = (made: unknown) => JSON.stringify(made);

/** Texts of numbers that `JSON.stringify` does not write; some are not numbers. */
const NUMBERS =
  "1.50 -0 -0.0 1e5 1E+2 01 0.0000001 0.00000012 1e400 -1e400 1. .5 +1 - 0x1 123456789012345 1234567890123456 0.123456789012345 0.1234567890123456 1e 12345678901234.50".split(
    " ",
  );

/** An entry with the given JSON text as its data. */
const withData = fc
  .tuple(
    entry,
    fc.constantFrom(...NUMBERS),
    fc.tuple(name, value).map(([n, v]) => `${json(n)}:${json(v)}`),
  )
  .chain(([made, digits, member]) =>
    fc
      .constantFrom(
        `{"a":${digits},"b":[${digits},1]}`,
        `{${member},"z":1,${member}}`,
        `{${member},${member.replace(/:.*/s, ":0")}}`,
        `[${digits}]`,
        "null",
        `"${digits}"`,
        "{}",
        "{,}",
        '{"a":1,}',
        '{"a":tru}',
        '{"a":[1,]}',
        `{"a" :1}`,
        `{"a":"\\x"}`,
        `{"a":"\\u00"}`,
        "{".repeat(3),
        `{"a":${"[".repeat(50)}${"]".repeat(50)}}`,
      )
      .map((data) => `${json({ ...made, data: undefined }).slice(0, -1)},"data":${data}}`),
  );

const reordered = fc.tuple(entry, fc.array(fc.nat(9), { maxLength: 10 })).map(([made, order]) => {
  const places = Object.entries(made).map((member, at) => ({ member, place: order[at] ?? 0 }));
  return json(Object.fromEntries(places.sort((x, y) => x.place - y.place).map(({ member }) => member)));
});

const damaged = fc
  .tuple(entry, fc.nat(), fc.nat({ max: 255 }), fc.constantFrom("change", "drop", "add", "cut"))
  .map(([made, where, byte, how]) => {
    const bytes = Buffer.from(json(made));
    const at = where % bytes.length;
    // A line break would split the line.
    const put = how === "change" || how === "add" ? [byte === 10 ? 11 : byte] : [];
    const rest = how === "cut" ? [] : bytes.subarray(how === "add" ? at : at + 1);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(put), Buffer.from(rest)]);
  });

export const storedLine: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 8, arbitrary: entry.map((made) => Buffer.from(json(made))) },
  { weight: 2, arbitrary: withData.map((line) => Buffer.from(line)) },
  { weight: 1, arbitrary: reordered.map((line) => Buffer.from(line)) },
  {
    weight: 1,
    arbitrary: fc.tuple(entry, name, value).map(([made, extra, held]) => Buffer.from(json({ ...made, [extra]: held }))),
  },
  {
    weight: 1,
    arbitrary: entry.map((made) => Buffer.from(json(made).replaceAll("a", "\\u0061").replaceAll("/", "\\/"))),
  },
  // An empty line would make an empty batch, which the batch rejects as a whole.
  { weight: 2, arbitrary: damaged.filter((line) => line.length > 0) },
);
