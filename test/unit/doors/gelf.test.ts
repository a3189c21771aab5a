import { expect, test } from "vitest";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import { gelfDecoder } from "../../../src/doors/gelf.ts";
import { vercelDecoder } from "../../../src/doors/vercel.ts";
import { decode, type NewDecoder } from "./list-sink.ts";

const gelf: NewDecoder = (sink, meter) => gelfDecoder(sink, meter);
const vercel: NewDecoder = (sink, meter) => vercelDecoder(sink, meter);

const MESSAGE = {
  version: "1.1",
  host: "web-1",
  short_message: "Failed",
  full_message: "Failed\n  at main",
  timestamp: 1795420800.1234,
  level: 3,
  _user_id: 9007199254740993n,
  _message: "other",
  _host: "kept",
  facility: "app",
};
const text = JSON.stringify(MESSAGE, (_, value) => (typeof value === "bigint" ? Number(value) : value)).replace(
  "9007199254740992",
  "9007199254740993",
);

test("reads a GELF message with its additional fields", () => {
  expect(decode(gelf, text).entries).toEqual([
    {
      time: 1795420800123.4,
      sentTime: 1795420800.1234,
      level: "error",
      message: "Failed",
      host: "web-1",
      data: {
        full_message: "Failed\n  at main",
        user_id: "9007199254740993",
        message: "other",
        _host: "kept",
        facility: "app",
      },
    },
  ]);
});

test.each([
  ["behind each other", (one: string) => `${one}${one} ${one}`],
  ["in lines", (one: string) => `${one}\n${one}\n${one}\n`],
  ["in an array", (one: string) => `[${one}, ${one},${one}]`],
])("reads GELF messages %s, in chunks of every size", (_, body) => {
  const one = JSON.stringify({ short_message: "m", _n: 1 });
  for (let size = 1; size <= 60; size += 7) {
    const { entries } = decode(gelf, body(one), size);
    expect(entries.map(({ message, data }) => [message, data.n])).toEqual([
      ["m", 1],
      ["m", 1],
      ["m", 1],
    ]);
  }
});

test("refuses a GELF body that is not JSON", () => {
  expect(() => decode(gelf, '{"short_message": "m"')).toThrow(DoorBodyFault);
});

test.each([
  '[INFO] started\n{"short_message":"b","_n":-Infinity}\n',
  '{"short_message":"b","_n":-Infinity}\r\n[INFO] started',
])("keeps lines of text among GELF messages: %s", (body) => {
  for (const size of [1, 7, 1_000]) {
    const { entries, rejected } = decode(gelf, body, size);
    expect(entries.map(({ message, data }) => [message, data.n]).sort()).toEqual([
      ["[INFO] started", undefined],
      ["b", "-Infinity"],
    ]);
    expect(rejected).toEqual([]);
  }
});

const DRAIN = [
  {
    id: "1",
    message: "hi",
    timestamp: 1795420800001,
    type: "stdout",
    source: "lambda",
    projectId: "p",
    host: "x.vercel.app",
    level: "warning",
  },
  {
    id: "2",
    timestamp: 1795420800002,
    source: "static",
    statusCode: 304,
    proxy: { method: "GET", path: "/a", statusCode: 304 },
  },
  { id: "3", message: "boom", timestamp: 1795420800003, type: "stderr", projectName: "shop", traceId: "abc" },
];

test("reads a Vercel drain, as an array and as lines", () => {
  const { entries } = decode(vercel, JSON.stringify(DRAIN));
  expect(
    entries.map(({ message, level, service, host, id, time }) => ({
      message,
      level,
      service,
      host,
      hasId: id !== undefined,
      time,
    })),
  ).toEqual([
    { message: "hi", level: "warn", host: "x.vercel.app", hasId: true, time: 1795420800001 },
    { message: "GET /a 304", level: null, hasId: true, time: 1795420800002 },
    { message: "boom", level: "error", service: "shop", hasId: true, time: 1795420800003 },
  ]);
  expect(entries[2]?.traceId).toBe("abc");
  expect(decode(vercel, DRAIN.map((entry) => JSON.stringify(entry)).join("\n")).entries).toEqual(entries);
});
