import { expect, test } from "vitest";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import { SentryDecoder, sentryEventDecoder } from "../../../src/doors/sentry.ts";
import { decode, type NewDecoder } from "./list-sink.ts";

const envelope: NewDecoder = (sink, meter) => new SentryDecoder(sink, meter);

const HEADER = '{"sdk":{"name":"sentry.javascript.node","version":"11.12.0"}}';
const LOGS = JSON.stringify({
  version: 2,
  items: [
    {
      timestamp: 1795420800.123,
      level: "warn",
      body: "Cart 7",
      trace_id: "5b8efff798038103d269b633813fc60c",
      severity_number: 13,
      attributes: { "server.address": { value: "web-1", type: "string" }, order: { value: 7, type: "integer" } },
    },
    { timestamp: 1795420801, level: "info", body: "next", attributes: {} },
  ],
});
const EVENT = JSON.stringify({
  event_id: "9ec79c33ec9942ab8353589fcb2e04dc",
  timestamp: "2026-11-23T08:00:00.5Z",
  server_name: "web-2",
  exception: {
    values: [
      { type: "Error", value: "inner" },
      { type: "TypeError", value: "x is undefined" },
    ],
  },
  contexts: { trace: { trace_id: "t", span_id: "s" } },
});

const WANTED = [
  {
    time: 1795420800123,
    level: "warn",
    message: "Cart 7",
    traceId: "5b8efff798038103d269b633813fc60c",
    host: "web-1",
    data: { "server.address": "web-1", order: 7 },
  },
  { time: 1795420801000, level: "info", message: "next", data: {} },
];

test("reads logs and events of an envelope and skips other items, in chunks of every size", () => {
  const body = [
    HEADER,
    '{"type":"log","item_count":2,"content_type":"application/vnd.sentry.items.log+json"}',
    LOGS,
    '{"type":"session"}',
    '{"sid":"not a log"}',
    '{"type":"attachment","length":13}',
    "two\nlines {}\u0000",
    `{"type":"event","length":${EVENT.length}}`,
    EVENT,
  ].join("\n");
  const { entries } = decode(envelope, body);
  expect(entries.slice(0, 2)).toEqual(WANTED);
  expect(entries.slice(2)).toMatchObject([
    {
      time: Date.parse("2026-11-23T08:00:00.5Z"),
      level: "error",
      message: "TypeError: x is undefined",
      type: "exception",
      host: "web-2",
      traceId: "t",
      spanId: "s",
      id: { hasContent: true },
    },
  ]);
  for (let size = 1; size < body.length; size += 3) expect(decode(envelope, body, size).entries).toEqual(entries);
});

test("reads an envelope whose last item has a line break behind it", () => {
  expect(decode(envelope, `${HEADER}\n{"type":"log"}\n${LOGS}\n`).entries).toEqual(WANTED);
  expect(decode(envelope, `${HEADER}\n`).entries).toEqual([]);
  expect(decode(envelope, `{}\n{"type":"client_report"}\n{}\n\n`).entries).toEqual([]);
});

test("adds what client reports say was dropped, without what was left out on purpose", () => {
  const report = (...rows: unknown[]) => `{"type":"client_report"}\n${JSON.stringify({ discarded_events: rows })}\n`;
  const row = (reason: unknown, category: unknown, quantity: unknown) => ({ reason, category, quantity });
  const body = [
    `${HEADER}\n`,
    report(
      ...[
        row("queue_overflow", "log_item", 3),
        row("queue_overflow", "log_byte", 900),
        row("network_error", "error", 2),
      ],
      ...[row("ratelimit_backoff", "log_item", 5), row("send_error", "log_item", 1), row("new_reason", "default", 4)],
      ...[row("sample_rate", "error", 7), row("before_send", "log_item", 8), row("network_error", "transaction", 9)],
    ),
    report(row("buffer_overflow", "log_item", 1), row("queue_overflow", "log_item", 1e15)),
    report(row("queue_overflow", "log_item", -1), row("queue_overflow", "log_item", "2"), null, 7),
    '{"type":"client_report"}\n{"discarded_events":"none"}\n',
    '{"type":"client_report"}\n{not JSON}\n',
  ].join("");
  for (const size of [1, 7, body.length]) {
    const decoders: SentryDecoder[] = [];
    const { entries } = decode(
      (sink, meter) => {
        const decoder = new SentryDecoder(sink, meter);
        decoders.push(decoder);
        return decoder;
      },
      body,
      size,
    );
    expect(entries).toEqual([]);
    expect(decoders[0]?.drops).toEqual({ "queue-full": 1e9, retries: 2, limited: 5, rejected: 1, unknown: 4 });
  }
});

test("reads an event of the former store route", () => {
  const { entries } = decode(
    (sink, meter) => sentryEventDecoder(sink, meter),
    '{"logentry":{"message":"m"},"level":"info"}',
  );
  expect(entries).toEqual([
    { time: null, level: "info", message: "m", type: "message", data: { logentry: { message: "m" } } },
  ]);
});

test.each([
  ["an empty body", ""],
  ["a header that is not JSON", "hello\n"],
  ["an item whose length is no number", '{}\n{"type":"log","length":"7"}\n{}'],
  ["an item that is shorter than its length", '{}\n{"type":"x","length":7}\n{}'],
  ["a payload that is not JSON", '{}\n{"type":"log"}\n{"items":[{]}\n'],
  ["a header of 100 KB", `{"a":"${"x".repeat(100_000)}"}\n`],
])("refuses %s", (_, body) => {
  expect(() => decode(envelope, body)).toThrow(DoorBodyFault);
  expect(() => decode(envelope, body, 1000)).toThrow(DoorBodyFault);
});

test("keeps what a log says more than its level, and parts of another type", () => {
  const logs = [
    { body: "a", level: "warn", severity_number: 14, trace_id: "0".repeat(32), attributes: "none" },
    { body: "b", level: "warn", severity_number: 13, trace_id: 7 },
  ];
  expect(decode(envelope, `{}\n{"type":"log"}\n${JSON.stringify({ items: logs })}\n`).entries).toEqual([
    { time: null, level: "warn", message: "a", data: { severity_number: 14, attributes: "none" } },
    { time: null, level: "warn", message: "b", data: { trace_id: 7 } },
  ]);
});
