import type { Level } from "../../logs/entry.ts";
import { define } from "../../logs/ingest/validate.ts";
import type { DoorEntry } from "../entry.ts";
import { levelOf } from "./levels.ts";

type OwnText = "service" | "host" | "traceId" | "spanId" | "session";
const OWN_TEXTS = ["service", "host", "traceId", "spanId", "session"] as const;

/**
 * Joins what a record says with what the envelope around it says. Where both say something and the envelope is preferred, the
 * record's value goes to a member of `data`, so that nothing is lost.
 */
export class Enveloped {
  readonly #entry: DoorEntry;
  #aside: Record<string, unknown> | null = null;

  /** @param entry the record as read without its envelope; it is changed */
  constructor(entry: DoorEntry) {
    this.#entry = entry;
  }

  /** @param sent the time as sent, if `time` does not say all of it */
  setTime(time: number, sent: string | number | undefined): void {
    const entry = this.#entry;
    if (entry.time !== null && Math.floor(entry.time) !== Math.floor(time)) {
      this.#setAside("time", entry.sentTime ?? entry.time);
    } else if (entry.time === null && entry.sentTime !== undefined) {
      this.#setAside("time", entry.sentTime);
    }
    entry.time = time;
    if (sent === undefined) delete entry.sentTime;
    else entry.sentTime = sent;
  }

  /** Marks a time of the envelope that cannot be read. The record keeps its own. */
  setUnreadTime(sent: string): void {
    const { sentTime } = this.#entry;
    if (sentTime !== undefined) this.#setAside("time", sentTime);
    this.#entry.sentTime = sent;
  }

  /** Takes a level, if there is one. */
  setLevel({ level, sentLevel }: DoorEntry): void {
    if (level !== null) this.#setLevel(level, sentLevel);
  }

  #setLevel(level: Level, sentLevel: string | number | undefined): void {
    const entry = this.#entry;
    if (entry.level !== null && entry.level !== level) this.#setAside("level", entry.sentLevel ?? entry.level);
    entry.level = level;
    if (sentLevel === undefined) delete entry.sentLevel;
    else entry.sentLevel = sentLevel;
  }

  /** Takes the level of a member that only one protocol has, if its value is a level. */
  setLevelOf(value: unknown): boolean {
    const read = levelOf(value);
    if (read === null) return false;
    const { level, isExact } = read;
    const isText = typeof value === "string" || typeof value === "number";
    this.#setLevel(level, isExact || !isText ? undefined : value);
    return true;
  }

  /** @param value ignored if it is no text */
  setText(name: OwnText, value: unknown): void {
    if (typeof value !== "string" || value === "") return;
    const own = this.#entry[name];
    if (own !== undefined && own !== value) this.#setAside(name, own);
    this.#entry[name] = value;
  }

  /** Takes the texts that the record does not have. */
  fill(from: DoorEntry): void {
    for (const name of OWN_TEXTS) {
      const value = from[name];
      if (value !== undefined && this.#entry[name] === undefined) this.#entry[name] = value;
    }
  }

  /** Sets a member of `data`. */
  setMember(name: string, value: unknown): void {
    const { data } = this.#entry;
    if (Object.hasOwn(data, name) && data[name] !== value) this.#setAside(name, data[name]);
    define(data, name, value);
  }

  /** @param name the member of `data` for values of the record that the envelope has replaced */
  finish(name: string): DoorEntry {
    if (this.#aside !== null) {
      const { data } = this.#entry;
      if (Object.hasOwn(data, name)) define(this.#aside, name, data[name]);
      data[name] = this.#aside;
    }
    return this.#entry;
  }

  #setAside(name: string, value: unknown): void {
    this.#aside ??= {};
    define(this.#aside, name, value);
  }
}

/**
 * A record that is too large to be held: the beginning of its text is the message.
 * @param sentLength its length as sent
 */
export function cutEntry(text: string, sentLength: number): DoorEntry {
  return { time: null, level: null, message: text, data: {}, marks: { cut: { message: sentLength } } };
}
