import { type Entry, LEVELS } from "../entry.ts";
import { LINE_TEXTS, type LineText, type WantedMembers } from "../search/wanted-members.ts";
import { PathNode } from "./data-tests.ts";
import { JsonStrings, type ObjectWork } from "./json-bytes.ts";

/** Where wanted members are in a line. */
export class MemberSlices {
  readonly #wanted: WantedMembers;
  readonly #names = new PathNode();
  readonly #strings = new JsonStrings();
  /** By index in `LINE_TEXTS`: beginning and end between the quotes; -1 without the member. */
  readonly #texts = new Int32Array(LINE_TEXTS.length * 2);
  /** Beginnings and ends of members of `data`, with their names. */
  #data: number[] = [];
  #hasData = false;
  #bytes = 0;

  constructor(wanted: WantedMembers) {
    this.#wanted = wanted;
    for (const name of wanted.data) this.#names.make(name);
  }

  begin(): void {
    this.#texts.fill(-1);
    this.#data.length = 0;
    this.#hasData = false;
    this.#bytes = 0;
  }

  /** Records a text. @param index in `LINE_TEXTS` @param from,to between the quotes */
  text(index: number, from: number, to: number): void {
    this.#texts[index * 2] = from;
    this.#texts[index * 2 + 1] = to;
  }

  /** Records that the line has `data`. */
  data(): void {
    this.#hasData = true;
  }

  /** Whether a member of `data` is wanted. @param text bytes, one character each @param from,to of its name */
  wants(text: string, from: number, to: number): boolean {
    return this.#names.member(text, from, to) !== null;
  }

  /** Records a member of `data`. @param from,to with its name and its value */
  member(from: number, to: number): void {
    this.#data.push(from, to);
    this.#bytes += to - from;
  }

  /** Bytes of members of `data` that `entry` parses. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the work units of the objects that `entry` parses besides those of their bytes. */
  objectWork(raw: Uint8Array, objects: ObjectWork): number {
    let work = 0;
    for (let at = 0; at < this.#data.length; at += 2) {
      work += objects.of(raw, this.#data[at] ?? 0, this.#data[at + 1] ?? 0);
    }
    return work;
  }

  /** Returns the entry with the wanted members. The line was read before, so they are JSON. */
  entry(raw: Buffer, severity: number): Entry {
    const textOf = (name: LineText): string | undefined => {
      const index = LINE_TEXTS.indexOf(name) * 2;
      const from = this.#texts[index] ?? -1;
      if (from < 0 || !this.#wanted.texts.has(name)) return undefined;
      return this.#strings.decoded(raw, from, this.#texts[index + 1] ?? from);
    };
    const [session, traceId, spanId] = [textOf("session"), textOf("traceId"), textOf("spanId")];
    const [service, host] = [textOf("service"), textOf("host")];
    return {
      timestamp: "",
      level: LEVELS[severity] ?? "trace",
      category: textOf("category") ?? "",
      type: textOf("type") ?? "",
      message: textOf("message") ?? "",
      ...(session !== undefined && { session }),
      ...(traceId !== undefined && { traceId }),
      ...(spanId !== undefined && { spanId }),
      ...(service !== undefined && { service }),
      ...(host !== undefined && { host }),
      ...(this.#hasData && { data: this.#members(raw) }),
    };
  }

  #members(raw: Buffer): Record<string, unknown> {
    const parts: string[] = [];
    for (let at = 0; at < this.#data.length; at += 2) {
      parts.push(raw.toString("utf8", this.#data[at], this.#data[at + 1]));
    }
    // SAFETY: members between braces are an object.
    return parts.length === 0 ? {} : (JSON.parse(`{${parts.join(",")}}`) as Record<string, unknown>);
  }
}
