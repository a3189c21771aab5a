import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { DoorDecoder } from "../../../src/doors/decoder.ts";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import type { DoorEntrySink } from "../../../src/doors/entry.ts";
import { FirehoseDecoder } from "../../../src/doors/firehose.ts";
import { gelfDecoder } from "../../../src/doors/gelf.ts";
import { JournalDecoder } from "../../../src/doors/journal.ts";
import { SentryDecoder } from "../../../src/doors/sentry.ts";
import { DoorEntries } from "../../../src/doors/shared/door-entries.ts";
import { readerOf } from "../../../src/doors/shared/record-reader.ts";
import { SyslogDecoder } from "../../../src/doors/syslog/decoder.ts";
import { utc } from "../../../src/doors/syslog/times.ts";
import { vercelDecoder } from "../../../src/doors/vercel.ts";
import { inOneTurn, TurnMeter } from "../../../src/platform/turns.ts";

const NOW = Date.parse("2026-11-23T10:00:00Z");
const BODIES = Number(process.env.FUZZ_BODIES ?? 300);
/** Bytes of the longest body here, some times over: its records as texts, and buffers that double. */
const MAX_HELD = 64 * 1024;

const event = { id: "1", timestamp: NOW, message: "2026\t[ERROR]\tfailed\n" };
const cloudWatch = JSON.stringify({ messageType: "DATA_MESSAGE", logGroup: "/a/b", logEvents: [event, event] });
const data = (text: string | Uint8Array) => ({ data: Buffer.from(text).toString("base64") });
const syslogLine = `<165>1 2026-11-23T08:14:15.003123Z h app 7 ID [a@1 k="v \\" ]"][b] {"level":30,"msg":"x"}`;
const log = {
  timestamp: 1.5,
  level: "warn",
  body: "b",
  trace_id: "t",
  attributes: { a: { value: 1, type: "integer" } },
};

type New = (sink: DoorEntrySink, meter: TurnMeter) => DoorDecoder;
const syslog: New = (sink, meter) =>
  new SyslogDecoder(sink, meter, { now: NOW, zone: utc, hasStructuredData: true, records: readerOf() });

const DOORS: [string, New, string | Uint8Array][] = [
  ["syslog in lines", syslog, `${syslogLine}\n<34>Oct 11 22:14:15 mymachine su[3]: failed\ntext\n`],
  ["syslog in frames", syslog, `${syslogLine.length} ${syslogLine}23 <13>1 - h a - - - next\n7 <13>foo`],
  [
    "journal",
    (sink, meter) => new JournalDecoder(sink, meter, readerOf()),
    `__CURSOR=s\n__REALTIME_TIMESTAMP=1795420800123456\nPRIORITY=4\nMESSAGE\n\u0005\0\0\0\0\0\0\0ab\ncd\nA=1\nA=2\n\nMESSAGE={"a":1}\n\n`,
  ],
  [
    "GELF",
    (sink, meter) => gelfDecoder(sink, meter),
    `[{"version":"1.1","short_message":"m","level":3,"_a":{"b":[1]}}]{"host":"h"}`,
  ],
  [
    "Vercel",
    (sink, meter) => vercelDecoder(sink, meter),
    `[{"id":"1","level":"warning","proxy":{"method":"GET","path":"/"}}]`,
  ],
  [
    "Sentry",
    (sink, meter) => new SentryDecoder(sink, meter),
    `{"sdk":{}}\n{"type":"log"}\n${JSON.stringify({ items: [log, log] })}\n{"type":"event","length":27}\n{"exception":{"values":[]}}\n`,
  ],
  [
    "Firehose",
    (sink, meter) => new FirehoseDecoder(sink, meter, readerOf()),
    JSON.stringify({
      requestId: "r",
      records: [data('{"msg":"a"}{"b":1}\nc'), data(cloudWatch), data(gzipSync(cloudWatch))],
    }),
  ],
];

/** Numbers that are the same in each run, by Mulberry32. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const SPECIAL = Buffer.from('\n\0{}[]",:=<> \\0123456789\u001f\u008b');

function mutated(body: Buffer, random: (below: number) => number): Buffer {
  let bytes = Buffer.from(body);
  for (let count = 1 + random(6); count > 0; count--) {
    const at = random(bytes.length + 1);
    const end = Math.min(bytes.length, at + 1 + random(1 + random(bytes.length)));
    const part = bytes.subarray(at, end);
    const kind = random(5);
    if (kind === 0) bytes[at] = random(256);
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, end), part, bytes.subarray(end)]);
    else if (kind === 3) bytes[at] = SPECIAL[random(SPECIAL.length)] ?? 0;
    else bytes = bytes.subarray(0, at);
  }
  return bytes;
}

test.each(DOORS)(
  "%s: mutated bodies end with entries or a fault of the body, in bounded memory",
  (_, newDecoder, body) => {
    const random = randomNumbers(18);
    let stored = 0;
    for (let run = 0; run < BODIES; run++) {
      const bytes = mutated(Buffer.from(body), random);
      const meter = new TurnMeter();
      const entries = new DoorEntries(NOW, meter);
      const decoder = newDecoder(entries, meter);
      const size = 1 + random(200);
      try {
        for (let at = 0; at < bytes.length; at += size) {
          inOneTurn(decoder.read(Uint8Array.from(bytes.subarray(at, at + size))));
          expect(decoder.held).toBeLessThan(MAX_HELD);
        }
        inOneTurn(decoder.end());
        for (const { count } of entries.finish().batches) stored += count;
      } catch (error) {
        expect(error).toBeInstanceOf(DoorBodyFault);
      }
    }
    expect(stored).toBeGreaterThan(0);
  },
);
