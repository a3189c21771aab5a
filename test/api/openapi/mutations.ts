import type { Schema } from "./document.ts";
import { type Accepts, sampleOf, typesOf } from "./samples.ts";

/** Values of every type, and odd ones of each. */
const ANYTHING: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  0.1,
  1e21,
  1e300,
  -1e300,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  "",
  " ",
  "0",
  "1",
  "true",
  "null",
  [],
  [[]],
  [null],
  {},
  { a: 1 },
];

/** Times, and texts that look like times. */
export const TIMES: readonly unknown[] = [
  "2026-11-20",
  "2026-11-20T14:00:00.000Z",
  "2026-11-20T14:00:00Z",
  "2026-11-20T14:00Z",
  "2026-11-20T14Z",
  "2026-11-20T14:00:00",
  "2026-11-20 14:00:00",
  "2026-11-20t14:00:00z",
  "2026-11-20T14:00:00,5Z",
  "2026-11-20T14:00:00.Z",
  "2026-11-20T14:00:00.123456789Z",
  "2026-11-20T14:00:00.1234567890Z",
  "2026-11-20T14:00:00+02:00",
  "2026-11-20T14:00:00+0200",
  "2026-11-20T14:00:00+02",
  "2026-11-20T14:00:00-23:59",
  "2026-11-20T14:00:00+24:00",
  "2026-11-20T14:00:00+02:60",
  "2026-11-20T14:00:00-00:00",
  "2026-11-20T23:59:59Z",
  "2026-11-20T23:59:60Z",
  "2026-11-20T24:00:00Z",
  "2026-11-20T14:60:00Z",
  "2026-11-20T14:60Z",
  "2026-11-20T14:00:60",
  "2026-02-28",
  "2026-02-29",
  "2028-02-29",
  "2100-02-29",
  "2000-02-29T00:00:00Z",
  "2026-02-30",
  "2026-04-31T00:00:00Z",
  "2026-13-01",
  "2026-00-10",
  "2026-10-00",
  "2026-10-32",
  "1969-12-31",
  "1970-01-01",
  "1970-01-01T00:00:00+00:01",
  "0000-01-01",
  "9999-12-31",
  "9999-12-31T00:00:00Z",
  "9999-12-31T00:00:00.001Z",
  "10000-01-01",
  "+002026-11-20T14:00:00Z",
  "-000001-01-01T00:00:00Z",
  " 2026-11-20",
  "2026-11-20\n",
  "2026-11-20T14:00:00Z ",
  "20261120",
  "2026-W47-5",
  "2026-324",
  "Fri, 20 Nov 2026 14:00:00 GMT",
  "yesterday",
  "1795183200000",
  1795183200000,
  1795183200000.5,
  -0.5,
  253402214400000,
  253402214400001,
  253402214400000.5,
  8.64e15,
];

const EMAILS: readonly string[] = [
  "a@b.co",
  "A@EXAMPLE.COM",
  " a@example.com ",
  "\ta@example.com\n",
  "a@b",
  "a@b.c",
  "a.b+c@example.com",
  ".a@example.com",
  "a.@example.com",
  "a..b@example.com",
  "a@example..com",
  "a@-example.com",
  "a@example.com.",
  "a@example.c0m",
  '"a b"@example.com',
  "a@[127.0.0.1]",
  "ä@example.com",
  "a@exämple.com",
  "\u212a@example.com",
  "a@example.com\u0000",
  "a b@example.com",
  "a@@example.com",
  "@example.com",
  "a@",
  `${"a".repeat(242)}@example.com`,
  `${"a".repeat(243)}@example.com`,
  ` ${"a".repeat(242)}@example.com`,
  "o'neill@example.com",
  "a_b-c@sub.example.co.uk",
];

const ODD_TEXTS: readonly string[] = [
  "\ud800",
  "a\udc00b",
  "\u0000",
  "a\u0000b",
  "a\nb",
  "\u202eabc",
  "\u2028",
  "\ufeff",
  "é",
  "😀",
  "__proto__",
];

/** A lone surrogate or a control character at either end, surrounding space, other letters. */
function bent(text: string): string[] {
  return [
    ` ${text}`,
    `${text} `,
    `\n${text}\t`,
    `${text}\n`,
    `${text}\ud800`,
    `${text}\u0000`,
    `\u202e${text}`,
    text.toUpperCase(),
    `\ufeff${text}`,
  ];
}

/** Texts of lengths at and beyond a schema's bounds, with letters of one, two and four bytes and surrounding space. */
function lengths({ minLength, maxLength }: Schema): string[] {
  const bounds = [minLength, maxLength].filter((bound) => bound !== undefined);
  const wanted = new Set(
    bounds.flatMap((bound) => [bound - 1, bound, bound + 1]).filter((length) => length >= 0 && length < 20_000),
  );
  return [...wanted].flatMap((length) => [
    "a".repeat(length),
    "é".repeat(length),
    "😀".repeat(length),
    ` ${"a".repeat(length)} `,
    `${"a".repeat(Math.max(0, length - 1))}\ud800`,
    " ".repeat(length),
  ]);
}

function numbers({ minimum, maximum }: Schema): number[] {
  return [minimum, maximum]
    .filter((bound) => bound !== undefined)
    .flatMap((bound) => [bound - 1, bound, bound + 1, bound + 0.5]);
}

/** The sample, then every value that differs from it in one place, down to each member and item. */
export function* mutantsOf(schema: Schema, accepts: Accepts, sample = sampleOf(schema, accepts)): Generator<unknown> {
  yield sample;
  yield* ANYTHING;
  for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) yield* mutantsOf(branch, accepts);
  for (const each of schema.enum ?? []) {
    yield each;
    if (typeof each === "string") yield* bent(each);
  }
  const types = typesOf(schema);
  if (types.includes("string") || typeof sample === "string") {
    if (typeof sample === "string") yield* bent(sample);
    yield* ODD_TEXTS;
    yield* lengths(schema);
    if (isTime(schema, sample)) yield* TIMES;
    if (schema.format === "email") yield* EMAILS;
  }
  if (types.includes("integer") || types.includes("number")) yield* numbers(schema);
  if (types.includes("array") && schema.items) yield* arrays(schema, schema.items, accepts, sample);
  if (types.includes("object") && isObject(sample)) yield* objects(schema, accepts, sample);
}

/** A string that is a time by its format or its content. */
function isTime({ format }: Schema, sample: unknown): boolean {
  return format === "date-time" || (typeof sample === "string" && /^\d{4}-\d\d-\d\d/.test(sample));
}

function* arrays(schema: Schema, items: Schema, accepts: Accepts, sample: unknown): Generator<unknown> {
  const item = Array.isArray(sample) && sample.length > 0 ? sample[0] : sampleOf(items, accepts);
  const bounds = [schema.minItems, schema.maxItems].filter((bound) => bound !== undefined);
  for (const length of new Set(bounds.flatMap((bound) => [bound - 1, bound, bound + 1]))) {
    if (length >= 0 && length <= 1001) yield Array.from({ length }, () => item);
  }
  for (const mutant of mutantsOf(items, accepts, item)) yield [mutant];
  yield [item, null];
}

function* objects(schema: Schema, accepts: Accepts, sample: Record<string, unknown>): Generator<unknown> {
  const { properties = {}, additionalProperties } = schema;
  for (const name of Object.keys(sample))
    yield Object.fromEntries(Object.entries(sample).filter(([each]) => each !== name));
  yield Object.fromEntries(Object.entries(sample).filter(([name]) => schema.required?.includes(name)));
  for (const name of ["extra", "", "__proto__", "constructor", "a.b", "a..b", "😀", "\ud800"])
    yield withMember(sample, name, "x");
  for (const [name, member] of Object.entries(properties)) {
    for (const mutant of mutantsOf(member, accepts, sample[name])) yield withMember(sample, name, mutant);
  }
  if (typeof additionalProperties !== "object") return;
  for (const mutant of mutantsOf(additionalProperties, accepts)) yield withMember(sample, "some.path", mutant);
  const most = schema.maxProperties;
  if (most === undefined) return;
  for (const count of [most, most + 1]) {
    yield Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`p${i}`, sampleOf(additionalProperties, accepts)]),
    );
  }
}

/** As a parser creates it: `__proto__` is a member like others. */
function withMember(object: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  const changed = { ...object };
  Object.defineProperty(changed, name, { value, enumerable: true, configurable: true, writable: true });
  return changed;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Texts of a parameter: the mutations of its schema, and spellings of numbers. */
export function textsOf(schema: Schema, accepts: Accepts): string[] {
  const texts = new Set([
    "",
    "0",
    "1",
    "-1",
    "1.5",
    "1e1",
    "0x10",
    "+1",
    " 1",
    "1 ",
    "01",
    "1_0",
    "Infinity",
    "NaN",
    "true",
    "null",
    "x".repeat(300),
  ]);
  for (const mutant of mutantsOf(schema, accepts)) {
    if (typeof mutant === "string" || typeof mutant === "number" || typeof mutant === "boolean")
      texts.add(String(mutant));
  }
  return [...texts];
}
