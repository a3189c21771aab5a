import { type Entry, LEVELS, OWN_MEMBERS, parseStoredLine } from "../entry.ts";
import { logId } from "../entry-view.ts";
import type { LineMatch } from "../query/batch-matcher.ts";
import type { LineSource } from "../query/feed.ts";
import { AFTER_TYPE, categoryAt, typeAt } from "../query/lines.ts";
import { PatternTexts } from "../search/pattern-texts.ts";
import { TYPE_BITS } from "./aggregator.ts";
import { DataFields, stringEnd } from "./data-fields.ts";
import { type Field, fieldTree, type OwnField } from "./fields.ts";
import { FoundField } from "./found-field.ts";

const QUOTE = 0x22;
const CLOSE_BRACE = 0x7d;
const IDS = [
  { name: ',"session":', own: "session" },
  { name: ',"traceId":', own: "trace" },
  { name: ',"spanId":', own: "span" },
] as const;
/** Own members that fields read besides paths in `data`. */
const OWN = OWN_MEMBERS.map((name) => ({ name, head: `,"${name}":` }));
const DATA = ',"data":';
/** By severity: the text before the category. The scan has compared only the level's first character. */
const LEVEL_PARTS = LEVELS.map((level) => `","level":"${level}","category":`);
const LEVEL_TEXTS = LEVELS.map((level) => JSON.stringify(level));

/**
 * Finds the values of some fields in stored lines without parsing them. Reads a line from its beginning up to the last
 * field that is needed, and of other members only where they end. A line that is not written as ingest writes it is
 * parsed.
 */
export class LineFields {
  /** The values in the line that was read last, by field. */
  readonly found: readonly FoundField[];
  /** Own fields. */
  readonly #known: readonly { own: OwnField; found: FoundField }[];
  /** Fields of which an own member is a value, by index in `OWN`. */
  readonly #members: readonly (readonly { found: FoundField; rank: number }[])[];
  readonly #data: DataFields | null;
  readonly #patterns = new PatternTexts();
  /** Whether fields behind the type are needed. */
  readonly #readsBody: boolean;

  constructor(fields: readonly Field[]) {
    this.found = fields.map(() => new FoundField());
    this.#known = fields.flatMap(({ own }, index) => {
      const found = this.found[index];
      return own === null || !found ? [] : [{ own, found }];
    });
    this.#members = OWN.map(({ name }) =>
      fields.flatMap(({ member }, index) => {
        const found = this.found[index];
        return member?.name !== name || !found ? [] : [{ found, rank: member.rank }];
      }),
    );
    const tree = fieldTree(fields);
    this.#data = tree && new DataFields(tree, this.found);
    const inBody = new Set<string | null>(["message", "pattern", "session", "trace", "span", null]);
    this.#readsBody = fields.some(({ own }) => inBody.has(own));
  }

  /** Whether lines are read beyond level, category and type. */
  get readsBody(): boolean {
    return this.#readsBody;
  }

  /** Returns the work units of patterns, and of members and items of `data`, since the last call. */
  takeWork(): number {
    return this.#patterns.takeWork() + (this.#data?.takeWork() ?? 0);
  }

  /** @returns whether the line is an entry, as far as it was read */
  read(match: LineMatch, lines: LineSource): boolean {
    this.#reset(match.text);
    if (this.#read(match, lines)) return true;
    const entry = parseStoredLine(match.raw.toString("utf8", match.start, match.end));
    if (entry === null) return false;
    const text = Buffer.from(JSON.stringify(inOrder(entry)), "utf8").toString("latin1");
    this.#reset(text);
    const severity = LEVELS.indexOf(entry.level);
    return this.#read({ ...match, severity, text, start: 0, end: text.length }, lines);
  }

  #reset(text: string): void {
    for (let index = 0; index < this.found.length; index++) this.found[index]?.reset(text);
  }

  #read(match: LineMatch, lines: LineSource): boolean {
    const { text, start, end, severity } = match;
    const category = categoryAt(start, severity);
    const level = LEVEL_PARTS[severity] ?? "";
    if (!text.startsWith(level, category - level.length)) return false;
    const type = typeAt(text, category);
    const typeEnd = text.indexOf(AFTER_TYPE, type) + 1;
    if (type <= category || typeEnd <= type || typeEnd >= end) return false;
    for (const { found, own } of this.#known) {
      if (own === "category") found.add(0, TYPE_BITS.string, category, type - ',"type":'.length);
      else if (own === "type") found.add(0, TYPE_BITS.string, type, typeEnd);
      else this.#setKnown(found, own, match, lines);
    }
    return !this.#readsBody || this.#readBody(text, typeEnd - 1 + AFTER_TYPE.length, end);
  }

  #setKnown(found: FoundField, own: Field["own"], match: LineMatch, lines: LineSource): void {
    const { timestamp, index, severity } = match;
    if (own === "level") found.set(LEVEL_TEXTS[severity] ?? "", TYPE_BITS.string, severity);
    else if (own === "time") found.set(timeText(timestamp), TYPE_BITS.string, timestamp);
    else if (own === "received") {
      const receivedAt = lines.receivedAtOf(index);
      found.set(timeText(receivedAt), TYPE_BITS.string, receivedAt);
    } else if (own === "seq") {
      const seq = lines.seqAt(index);
      found.set(String(seq), TYPE_BITS.number, seq);
    } else if (own === "project") found.set(`"${lines.projectId}"`, TYPE_BITS.string, Number.NaN);
    else if (own === "id") {
      found.set(`"${logId(lines.projectId, lines.seqAt(index))}"`, TYPE_BITS.string, Number.NaN);
    }
  }

  /** Reads the members from the message on. */
  #readBody(text: string, message: number, end: number): boolean {
    let at = this.#member("message", text, message, end);
    for (const { name, own } of IDS) {
      if (at >= 0 && text.startsWith(name, at)) at = this.#member(own, text, at + name.length, end);
    }
    for (let index = 0; at >= 0 && index < OWN.length; index++) {
      const head = OWN[index]?.head ?? "";
      if (!text.startsWith(head, at)) continue;
      const from = at + head.length;
      at = text.charCodeAt(from) === QUOTE ? stringEnd(text, from + 1, end) + 1 || -1 : -1;
      for (const { found, rank } of this.#members[index] ?? []) found.add(rank, TYPE_BITS.string, from, at);
    }
    if (at < 0) return false;
    if (text.startsWith(DATA, at)) {
      if (this.#data === null) return true;
      return this.#data.read(text, at + DATA.length, end);
    }
    return at === end - 1 && text.charCodeAt(at) === CLOSE_BRACE;
  }

  /** @returns the index after a string; negative if there is none */
  #member(own: Field["own"], text: string, from: number, end: number): number {
    if (text.charCodeAt(from) !== QUOTE) return -1;
    const to = stringEnd(text, from + 1, end) + 1;
    if (to === 0) return -1;
    for (const known of this.#known) {
      if (known.own === own) known.found.add(0, TYPE_BITS.string, from, to);
      else if (known.own === "pattern" && own === "message") {
        const pattern = this.#patterns.ofJson(text, from, to);
        if (pattern === null) return -1;
        known.found.set(pattern, TYPE_BITS.string, Number.NaN);
      }
    }
    return to;
  }
}

function timeText(timestamp: number): string {
  return `"${new Date(timestamp).toISOString()}"`;
}

/** Returns an entry with its members in the order of stored lines. */
function inOrder({ timestamp, level, category, type, message, ...rest }: Entry): object {
  const { session, traceId, spanId, service, host, data } = rest;
  return { timestamp, level, category, type, message, session, traceId, spanId, service, host, data };
}
