/** What `worst-query.ts` varies: stored lines and filters, each as a few choices that can be changed one at a time. */

/** Texts that are costly because of folding, escaping or repetition. */
const ATOMS = [
  "a",
  "A",
  "b",
  "ab",
  "k",
  "K",
  "\u212a",
  "Σ",
  "ς",
  "σ",
  "İ",
  "i\u0307",
  "é",
  "ß",
  "\n",
  "\u0001",
  '"',
  "\\",
  "0",
  "1",
  "12",
  "😀",
  "\ud800",
  " ",
];
const NAMES = ["a", "b", "", "0", "1", "aaaaaaaa", 'q"', "é"];
const OPERATORS = ["eq", "ne", "in", "gt", "gte", "lt", "exists", "absent"] as const;
type Operator = (typeof OPERATORS)[number];
const SHAPES = ["objects", "strings", "numbers", "digits", "lists", "names", "deep", "text", "words"] as const;

/** A text as repeated parts. */
export interface TextGene {
  atom: string;
  times: number;
  tail: string;
}

export interface Genome {
  /** Genes of the lines. */
  message: TextGene;
  shape: (typeof SHAPES)[number];
  name: string;
  text: TextGene;
  /** Values in a line's `data`. */
  items: number;
  session: boolean;
  /** Genes of the query. */
  search: TextGene | null;
  tests: { path: string; op: Operator; value: TextGene; count: number }[];
  wantsSession: boolean;
  names: number;
  includeTotal: boolean;
}

type Random = () => number;

const pick = <T>(random: Random, list: readonly T[]): T => {
  const picked = list[Math.floor(random() * list.length)];
  if (picked === undefined) throw new RangeError("There is nothing to pick from.");
  return picked;
};
/** Small numbers as often as large ones. */
const size = (random: Random, most: number) => Math.floor(Math.exp(random() * Math.log(most + 1)));

function textGene(random: Random, most: number): TextGene {
  return { atom: pick(random, ATOMS), times: size(random, most), tail: random() < 0.5 ? "" : pick(random, ATOMS) };
}

function testGene(random: Random): Genome["tests"][number] {
  const count = pick(random, [1, 1, 4, 10, 100]);
  return { path: pick(random, NAMES), op: pick(random, OPERATORS), value: textGene(random, 64), count };
}

/** Returns random values of all genes. */
const FRESH: { [Name in keyof Genome]: (random: Random, before: Genome | null) => Genome[Name] } = {
  message: (random) => textGene(random, 200),
  shape: (random) => pick(random, SHAPES),
  name: (random) => pick(random, NAMES),
  text: (random) => textGene(random, 60_000),
  items: (random) => size(random, 20_000),
  session: (random) => random() < 0.3,
  search: (random, before) => {
    if (random() < 0.25) return null;
    // A text that almost matches costs most.
    const like = before !== null && random() < 0.6 ? before.text : textGene(random, 400);
    return { ...like, times: Math.min(like.times, size(random, 250)), tail: pick(random, ["", ...ATOMS]) };
  },
  tests: (random, before) => {
    const tests = before === null ? [] : [...before.tests];
    if (tests.length > 0 && random() < 0.4) tests.splice(Math.floor(random() * tests.length), 1);
    if (random() < 0.7 && tests.length < 6) tests.push(testGene(random));
    return tests;
  },
  wantsSession: (random) => random() < 0.2,
  names: (random) => pick(random, [0, 0, 0, 1, 20, 1000]),
  includeTotal: (random) => random() < 0.5,
};

export function randomGenome(random: Random): Genome {
  const { message, shape, name, text, items, session, search, tests, wantsSession, names, includeTotal } = FRESH;
  return {
    message: message(random, null),
    shape: shape(random, null),
    name: name(random, null),
    text: text(random, null),
    items: items(random, null),
    session: session(random, null),
    search: search(random, null),
    tests: tests(random, null),
    wantsSession: wantsSession(random, null),
    names: names(random, null),
    includeTotal: includeTotal(random, null),
  };
}

// SAFETY: `Object.keys` of a literal returns exactly its keys.
const GENE_NAMES = Object.keys(FRESH) as (keyof Genome)[];

/** Changes one to three genes. */
export function mutated(genome: Genome, random: Random): Genome {
  let next = genome;
  for (let changes = 1 + Math.floor(random() * 3); changes > 0; changes--) {
    const name = pick(random, GENE_NAMES);
    next = { ...next, [name]: FRESH[name](random, next) };
  }
  return next;
}

function textOf({ atom, times, tail }: TextGene): string {
  return atom.repeat(times) + tail;
}

const TIME = 1_795_183_200_000;
/** Maximum digits of a value that is stored as a number. */
const DIGITS = 15;
/** Maximum bytes of a stored line. */
const LINE_BYTES = 256 * 1024;

function dataOf({ shape, name, text, items }: Genome): Record<string, unknown> {
  const value = textOf({ ...text, times: Math.min(text.times, Math.ceil(200_000 / Math.max(1, items))) });
  const list = (make: (index: number) => unknown) => ({ a: Array.from({ length: items }, (_, index) => make(index)) });
  switch (shape) {
    case "objects":
      return list(() => ({ [name]: value }));
    case "strings":
      return list(() => value);
    case "numbers":
      return list((index) => index);
    case "digits":
      return list(() => ({ [name]: Number(value.replace(/\D/g, "").slice(0, DIGITS)) }));
    case "lists":
      return list(() => []);
    case "names":
      return Object.fromEntries(Array.from({ length: items }, (_, index) => [`${name}${index.toString(36)}`, 0]));
    case "deep":
      return list(() => ({ a: { a: { a: { a: { a: { a: { [name]: value } } } } } } }));
    case "words":
      return list((index) => [true, false, null][index % 3]);
    case "text":
      return { a: textOf(text), [name]: value };
  }
}

/** A line that ingest would accept, or `null`. */
function lineOf(genome: Genome): string | null {
  const line = JSON.stringify({
    timestamp: new Date(TIME).toISOString(),
    level: "info",
    category: "http",
    type: "request",
    message: textOf(genome.message) || "m",
    ...(genome.session ? { session: textOf(genome.message).slice(0, 200) } : {}),
    data: dataOf(genome),
  });
  return Buffer.byteLength(line) <= LINE_BYTES ? line : null;
}

export const GENES = {
  time: TIME,

  /** As many lines as a batch may have, or as fit. */
  bodyOf(genome: Genome, bytes: number): Buffer {
    let { items } = genome;
    let line = lineOf(genome);
    while (line === null) {
      items = Math.floor(items / 2);
      line = lineOf({ ...genome, items, text: { ...genome.text, times: Math.min(genome.text.times, 20_000) } });
    }
    const lines = Math.min(1000, Math.max(1, Math.floor(bytes / (Buffer.byteLength(line) + 1))));
    return Buffer.from(new Array(lines).fill(line).join("\n"));
  },

  /** `filters` of the query. */
  filtersOf({ search, tests, wantsSession, names, message }: Genome): Record<string, unknown> {
    const data: Record<string, unknown> = {};
    for (const { path, op, value, count } of tests) {
      for (let at = 0; at < count && Object.keys(data).length < 100; at++) {
        const name = JSON.stringify(op === "absent" ? `${path}-${at}` : path);
        const parents = ["", "a.", "a.1.", "a.1.a.a."][at % 4] ?? "";
        data[`${parents}[${name}]`.replace(".[", "[")] = testOf(op, textOf(value));
      }
    }
    const text = search === null ? "" : textOf(search).slice(0, 512);
    return {
      ...(text === "" ? {} : { search: text }),
      ...(tests.length === 0 ? {} : { data }),
      ...(wantsSession ? { session: textOf(message).slice(0, 200) } : {}),
      ...(names === 0 ? {} : { category: Array.from({ length: names }, (_, at) => (at === 0 ? "http" : `c${at}`)) }),
    };
  },
};

function testOf(op: Operator, text: string): unknown {
  switch (op) {
    case "in":
      return { in: Array.from({ length: 1000 }, (_, index) => (index % 2 === 0 ? text.slice(0, 20) + index : index)) };
    case "exists":
      return { exists: true };
    case "absent":
      return { exists: false, ne: text };
    case "gt":
    case "gte":
    case "lt":
      return { [op]: text.length % 2 === 0 ? text : text.length };
    default:
      return { [op]: text };
  }
}
