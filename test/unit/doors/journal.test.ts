import { expect, test } from "vitest";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import { JournalDecoder } from "../../../src/doors/journal.ts";
import { readerOf } from "../../../src/doors/shared/record-reader.ts";
import { decode, type NewDecoder } from "./list-sink.ts";

const journal: NewDecoder = (sink, meter) => new JournalDecoder(sink, meter, readerOf());

function binary(name: string, value: Uint8Array | string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([Buffer.from(`${name}\n`), length, bytes, Buffer.from("\n")]);
}

const BODY = Buffer.concat([
  Buffer.from("__CURSOR=s=1;i=1\n__REALTIME_TIMESTAMP=1795420800123456\n__MONOTONIC_TIMESTAMP=17\nPRIORITY=4\n"),
  Buffer.from("_HOSTNAME=web-1\n_SYSTEMD_UNIT=nginx.service\nSYSLOG_IDENTIFIER=nginx-worker\nA=1\nA=2\nEMPTY=\n"),
  binary("MESSAGE", "two\nlines = here"),
  binary("BLOB", Uint8Array.of(0xff, 0x00, 0x0a)),
  Buffer.from("\n"),
  Buffer.from(
    '__REALTIME_TIMESTAMP=1795420801000000\nMESSAGE={"level":"error","msg":"failed","order":7}\nPRIORITY=6\n',
  ),
  Buffer.from("_SYSTEMD_UNIT=session-3.scope\nSYSLOG_IDENTIFIER=sshd"),
]);

test("reads entries with text and binary fields, in chunks of every size", () => {
  const whole = decode(journal, BODY).entries;
  expect(whole).toEqual([
    {
      time: 1795420800123.456,
      sentTime: "1795420800123456",
      level: "warn",
      message: "two\nlines = here",
      service: "nginx",
      host: "web-1",
      id: { text: "journal\ns=1;i=1", hasContent: true },
      data: {
        __CURSOR: "s=1;i=1",
        __MONOTONIC_TIMESTAMP: "17",
        PRIORITY: "4",
        _HOSTNAME: "web-1",
        _SYSTEMD_UNIT: "nginx.service",
        SYSLOG_IDENTIFIER: "nginx-worker",
        A: ["1", "2"],
        EMPTY: "",
        BLOB: { base64: "/wAK" },
      },
    },
    {
      time: 1795420801000,
      level: "error",
      message: "failed",
      service: "sshd",
      data: { order: 7, PRIORITY: "6", _SYSTEMD_UNIT: "session-3.scope", SYSLOG_IDENTIFIER: "sshd" },
    },
  ]);
  for (let size = 1; size < BODY.length; size += 1) expect(decode(journal, BODY, size).entries).toEqual(whole);
});

test("an empty body has no entry, and empty lines are none", () => {
  expect(decode(journal, "").entries).toEqual([]);
  expect(decode(journal, "\n\n\n").entries).toEqual([]);
});

test.each([
  ["a name that is too long", `${"N".repeat(300)}=x\n`],
  ["a field without a name", "=x\n"],
  ["a field that has not ended", "A\n\u0009\0\0\0\0\0\0\0short"],
  ["a length beyond that of any body", Buffer.concat([Buffer.from("A\n"), Buffer.alloc(8, 0xff), Buffer.from("x\n")])],
  ["no line break behind a binary value", Buffer.from("A\n\u0001\0\0\0\0\0\0\0xy\n")],
])("refuses %s", (_, body) => {
  expect(() => decode(journal, body)).toThrow(DoorBodyFault);
  expect(() => decode(journal, body, 1)).toThrow(DoorBodyFault);
});

test("cuts values of 3 MB with a mark, and holds a part of an entry only", () => {
  const long = "x".repeat(3_000_000);
  const body = Buffer.concat([
    Buffer.from(`MESSAGE=${long}\n`),
    binary("COREDUMP", Buffer.alloc(3_000_000, 0xff)),
    binary("MORE", long),
    Buffer.from("\nMESSAGE=next\n"),
  ]);
  const { entries, held } = decode(journal, body, 65_536);
  expect(entries.map(({ message }) => message?.slice(0, 4))).toEqual(["xxxx", "next"]);
  expect(entries[0]?.marks?.cut).toEqual({ message: 3_000_000, "data.COREDUMP": 3_000_000, fields: 3 });
  expect(held).toBeLessThan(2_500_000);
});

test("keeps the journal's time beside that of a JSON message, and one that cannot be read", () => {
  const body = [
    '__REALTIME_TIMESTAMP=1795420801000000\nMESSAGE={"time":"2026-11-23T08:00:00Z","msg":"m"}\n',
    "__REALTIME_TIMESTAMP=soon\nMESSAGE=n\n",
  ];
  expect(decode(journal, body.join("\n")).entries).toMatchObject([
    { time: Date.parse("2026-11-23T08:00:00Z"), data: { __REALTIME_TIMESTAMP: "1795420801000000" } },
    { time: null, data: { __REALTIME_TIMESTAMP: "soon" } },
  ]);
});
