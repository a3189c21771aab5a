import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { DatadogDecoder, tagsOf } from "../../../src/doors/datadog.ts";
import { DoorBodyFault, type DoorDecoder } from "../../../src/doors/decoder.ts";
import { FirehoseDecoder } from "../../../src/doors/firehose.ts";
import { JournalDecoder } from "../../../src/doors/journal.ts";
import { labelsOf } from "../../../src/doors/loki/entries.ts";
import { LokiJsonDecoder } from "../../../src/doors/loki/json-push.ts";
import { SentryDecoder } from "../../../src/doors/sentry.ts";
import { DoorEntries } from "../../../src/doors/shared/door-entries.ts";
import { readerOf } from "../../../src/doors/shared/record-reader.ts";
import { SyslogDecoder } from "../../../src/doors/syslog/decoder.ts";
import { utc } from "../../../src/doors/syslog/times.ts";
import { TurnMeter } from "../../../src/platform/turns.ts";
import { decode } from "./list-sink.ts";

const NOW = Date.parse("2026-11-23T10:00:00Z");
/** Estimated nanoseconds of a turn, and of the most work of one step beyond it. */
const TURN = 10_000_000;
const STEP = 30_000_000;
const reader = readerOf();

/** A meter that knows all the work that was counted, and the most in one turn. */
class CountingMeter extends TurnMeter {
  total = 0;
  turn = 0;
  longest = 0;

  override spend(cost: number): void {
    super.spend(cost);
    this.total += cost;
    this.turn += cost;
    this.longest = Math.max(this.longest, this.turn);
  }

  override renew(): void {
    super.renew();
    this.turn = 0;
  }
}

type New = (entries: DoorEntries, meter: TurnMeter) => DoorDecoder;

function run(newDecoder: New, body: string | Buffer) {
  const meter = new CountingMeter();
  const entries = new DoorEntries(NOW, meter);
  const bytes = Buffer.from(body);
  const decoder = newDecoder(entries, meter);
  let pauses = 0;
  const drive = (steps: Generator<void, void>) => {
    while (!steps.next().done) {
      pauses++;
      meter.renew();
    }
  };
  try {
    for (let at = 0; at < bytes.length && entries.failure === null; at += 128 * 1024) {
      entries.receive(Math.min(bytes.length - at, 128 * 1024));
      drive(decoder.read(bytes.subarray(at, at + 128 * 1024)));
    }
    if (entries.failure === null) drive(decoder.end());
  } catch (error) {
    if (!(error instanceof DoorBodyFault)) throw error;
  }
  const { records } = entries;
  const { batches } = entries.finish();
  entries.take();
  return { meter, pauses, records, batches };
}

const syslog: New = (sink, meter) =>
  new SyslogDecoder(sink, meter, { now: NOW, zone: utc, hasStructuredData: true, records: reader });
const sentry: New = (sink, meter) => new SentryDecoder(sink, meter);
const firehose: New = (sink, meter) => new FirehoseDecoder(sink, meter, reader);
const journal: New = (sink, meter) => new JournalDecoder(sink, meter, reader);
const loki: New = (sink, meter) => new LokiJsonDecoder(sink, reader, meter);
const datadog: New = (sink, meter) => new DatadogDecoder(sink, reader, meter, {});

const recordOf = (content: string) => JSON.stringify({ records: [{ data: gzipSync(content).toString("base64") }] });
const namesOf = (count: number, separator: string) =>
  Array.from({ length: count }, (_, index) => index.toString(36)).join(separator);

/** Bodies whose size grows with `n`, and the least nanoseconds of work that must be counted for each of the `n`. */
const HOSTILE: [string, New, (n: number) => string, number][] = [
  ["Sentry: empty lines", sentry, (n) => `{}\n${"\n".repeat(20 * n)}`, 20],
  ["Sentry: lines of white space", sentry, (n) => `{}\n${" \n".repeat(n)}`, 300],
  ["Sentry: items of an unknown type", sentry, (n) => `{}\n${'{"length":0}\n'.repeat(n / 20)}`, 100],
  ["Sentry: items without logs", sentry, (n) => `{}\n${'{"type":"log"}\n{}\n'.repeat(n / 20)}`, 100],
  ["Firehose: empty records", firehose, (n) => `{"records":[${'{"data":""},'.repeat(n / 20)}{"data":""}]}`, 100],
  ["Firehose: small members", firehose, (n) => `{"records":[],${'"a":1,'.repeat(n)}"b":1}`, 200],
  ["Firehose: objects in a line", firehose, (n) => recordOf(`{"a":1}${"{}".repeat(n / 20)}`), 50],
  [
    "Firehose: shared members",
    firehose,
    (n) => recordOf(`{"messageType":"x"${',"owner":1'.repeat(n / 4)},"logEvents":[]}`),
    200,
  ],
  ["Loki: streams without entries", loki, (n) => `{"streams":[${'{"stream":{}},'.repeat(n / 10)}{}]}`, 200],
  ["Journal: fields of one name", journal, (n) => `${"A=1\n".repeat(2_040)}\n`.repeat(n / 10_000), 60],
  ["Journal: empty lines", journal, (n) => "\n".repeat(n), 50],
];

test.each(HOSTILE)("work on hostile bodies is counted, grows with the body and pauses: %s", (_, door, bodyOf, cost) => {
  const half = run(door, bodyOf(100_000));
  const whole = run(door, bodyOf(200_000));
  expect(whole.meter.total).toBeGreaterThan(200_000 * cost);
  expect(whole.meter.total / half.meter.total).toBeGreaterThan(1.6);
  expect(whole.meter.total / half.meter.total).toBeLessThan(2.4);
  expect(whole.pauses).toBeGreaterThanOrEqual(Math.floor(whole.meter.total / (TURN + STEP)));
  expect(whole.meter.longest).toBeLessThan(TURN + STEP);
});

test("records and items without content count against those of a request", () => {
  expect(run(firehose, `{"records":[${'{"data":""},'.repeat(30_000)}{"data":"Cg=="}]}`).records).toBe(20_001);
  expect(
    decode((sink, meter) => new FirehoseDecoder(sink, meter, reader), '{"records":[{"data":"Cg=="}]}').rejected,
  ).toEqual(["The record is empty."]);
  const items = `{}\n${'{"length":0}\n'.repeat(20_001)}`;
  expect(() => decode((sink, meter) => new SentryDecoder(sink, meter), items)).toThrow(DoorBodyFault);
  const line = run(firehose, recordOf(`{"a":1}${"{}".repeat(300_000)}`));
  expect(line.records).toBeLessThanOrEqual(20_001);
  expect(line.batches).toEqual([]);
});

test("syslog: repeated parameters are a list; very many are kept as text; zeros inside a message cost no more than others", () => {
  const one = (body: string) => decode((sink, meter) => syslog(sink as DoorEntries, meter), body).entries[0];
  const data = (count: number) => `[x${' a=""'.repeat(count)}]`;
  const few = one(`<13>1 - h a - - ${data(3)} m`);
  expect(few?.data.syslog).toMatchObject({ structuredData: { x: { a: ["", "", ""] } } });
  const many = one(`<13>1 - h a - - ${data(50_000)} m`);
  expect(many?.data.syslog).toMatchObject({ structuredData: data(50_000) });
  expect(many?.message).toBe("m");
  expect(one(`<13>a${"\0".repeat(200_000)}b\r\0\n`)?.message).toBe(`a${"\0".repeat(200_000)}b`);
});

test("journal: fields may have the name of a prototype, and several values", () => {
  const { entries } = decode(
    (sink, meter) => new JournalDecoder(sink, meter, reader),
    "__proto__=1\n__proto__=2\nA=1\n\n__proto__=3\n\n",
  );
  expect(Object.getPrototypeOf(entries[0]?.data)).toBe(Object.prototype);
  expect(entries.map(({ data }) => Object.entries(data))).toEqual([
    [
      ["__proto__", ["1", "2"]],
      ["A", "1"],
    ],
    [["__proto__", "3"]],
  ]);
});

test("Datadog: very many tags are kept as text", () => {
  for (const tags of [namesOf(1_001, ","), "a".repeat(70_000)]) expect(tagsOf(tags)).toBe(tags);
  expect(Object.keys(tagsOf(namesOf(1_000, ",")))).toHaveLength(1_000);
  const { meter, records } = run(datadog, JSON.stringify([{ message: "x", ddtags: namesOf(100_000, ",") }]));
  expect(records).toBe(1);
  // What is cut is counted as it was sent.
  expect(meter.total).toBeGreaterThan(20_000_000);
});

test("Loki: very many labels are kept as text, of which each line gets the beginning", () => {
  const newLoki = (sink: never, meter: TurnMeter) => new LokiJsonDecoder(sink, reader, meter);
  const labels = JSON.stringify(
    Object.fromEntries(
      namesOf(30_000, ",")
        .split(",")
        .map((name) => [`l${name}`, ""]),
    ),
  );
  const lines = `"values":[${'["1795435201000000000","x"],'.repeat(300)}["1795435201000000000","x"]]`;
  for (const body of [`{"stream":${labels},${lines}}`, `{${lines},"stream":${labels}}`]) {
    const { entries } = decode(newLoki as never, `{"streams":[${body}]}`, 4_096);
    expect(entries).toHaveLength(301);
    expect(entries[300]?.data.labels).toEqual({ labels: labels.slice(0, 64 * 1024) });
    expect(entries[300]?.marks).toEqual({ cut: { "data.labels.labels": labels.length } });
    const { meter, pauses } = run(loki, `{"streams":[${body}]}`);
    expect(pauses).toBeGreaterThanOrEqual(5);
    expect(meter.longest).toBeLessThan(TURN + STEP);
  }
  // Each label once looked at all the white space behind the last one.
  expect(Object.keys(labelsOf(`{${'a="",'.repeat(5_000)}${" ".repeat(30_000)}}`))).toEqual(["a"]);
});
