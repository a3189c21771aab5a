import { type ReportUnreadable, reportEntries } from "../batch.ts";
import type { SourceLine } from "../cold/format/lines.ts";
import { WORK, type WorkMeter } from "../query/budget.ts";
import { OPEN_FILTER } from "../query/filter.ts";
import { LineReader } from "../query/line-reader.ts";
import { severityAt } from "../query/lines.ts";

/** Epoch milliseconds, `from` inclusive, `to` exclusive. */
export interface TimeRange {
  from: number;
  to: number | null;
}

/** Takes the lines of a time range out of lists, and leaves out those that are not entries. */
export class EntryCheck {
  readonly #projectId: string;
  readonly #times: TimeRange;
  readonly #meter: WorkMeter;
  readonly #report: ReportUnreadable;
  readonly #reader: LineReader;

  /** @param report receives the lines that are not entries */
  constructor(projectId: string, times: TimeRange, meter: WorkMeter, report: ReportUnreadable) {
    this.#projectId = projectId;
    this.#times = times;
    this.#meter = meter;
    this.#report = report;
    this.#reader = new LineReader(OPEN_FILTER, meter);
  }

  /** Yields if the meter reports that a pause is due. */
  *steps(lines: readonly SourceLine[]): Generator<void, SourceLine[]> {
    const { from, to } = this.#times;
    const passed: SourceLine[] = [];
    const damaged: number[] = [];
    let opened: Uint8Array | null = null;
    let text = "";
    for (const line of lines) {
      const { body } = line.batch;
      const { timestamp, start, end } = line;
      if (opened !== body) {
        opened = body;
        const raw = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
        text = raw.toString("latin1");
        this.#reader.open(raw, text);
        this.#meter.add(WORK.byte * body.length);
      }
      this.#meter.add(WORK.line);
      if (timestamp < from || (to !== null && timestamp >= to)) continue;
      const severity = severityAt(text, start);
      const isEntry = severity >= 0 && !Number.isNaN(timestamp) && this.#reader.read(start, end, severity) === "passes";
      if (isEntry) passed.push(line);
      else damaged.push(line.seq);
      if (this.#meter.isDue) yield;
    }
    reportEntries(this.#report, this.#projectId, damaged);
    return passed;
  }
}
