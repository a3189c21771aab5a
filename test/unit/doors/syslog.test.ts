import { expect, test } from "vitest";
import { readerOf } from "../../../src/doors/shared/record-reader.ts";
import { SyslogDecoder } from "../../../src/doors/syslog/decoder.ts";
import { utc, type Zone, zoneOf } from "../../../src/doors/syslog/times.ts";
import { decode, type NewDecoder } from "./list-sink.ts";

const NOW = Date.parse("2026-11-23T10:00:00Z");

interface Options {
  zone?: Zone;
  now?: number;
  heroku?: boolean;
}

function syslog({ zone = utc, now = NOW, heroku = false }: Options = {}): NewDecoder {
  const options = { now, zone, hasStructuredData: !heroku, records: readerOf() };
  return (sink, meter) => new SyslogDecoder(sink, meter, options);
}

function only(line: string, options: Options = {}) {
  const { entries } = decode(syslog(options), line);
  expect(entries).toHaveLength(1);
  return entries[0];
}

test("reads a message of RFC 5424 with its structured data", () => {
  const line = `<165>1 2026-11-23T08:14:15.003123Z web-1 evntslog 710 ID47 [ex@32473 iut="3" src="a \\"b\\" \\] \\\\"][x@1 k="1" k="2"] \uFEFFAn event`;
  expect(only(line)).toEqual({
    time: Date.parse("2026-11-23T08:14:15.003Z") + 0.123,
    sentTime: "2026-11-23T08:14:15.003123Z",
    level: "info",
    message: "An event",
    service: "evntslog",
    host: "web-1",
    data: {
      syslog: {
        facility: "local4",
        severity: "notice",
        procid: "710",
        msgid: "ID47",
        structuredData: { "ex@32473": { iut: "3", src: 'a "b" ] \\' }, "x@1": { k: ["1", "2"] } },
      },
    },
  });
});

test("reads nil values and a message that is missing", () => {
  expect(only("<11>1 - - - - - -")).toEqual({
    time: null,
    level: "error",
    message: "",
    data: { syslog: { facility: "user", severity: "err" } },
  });
});

test("keeps a message that only looks like structured data, and a text in place of a time", () => {
  const entry = only("<14>1 yesterday h app - - [not structured] text");
  expect(entry).toMatchObject({ time: null, sentTime: "yesterday", message: "[not structured] text" });
});

test("reads Heroku's frames, which have no structured data, in chunks of every size", () => {
  const first =
    "<40>1 2012-11-30T06:45:29+00:00 heroku web.3 d.73ea7440-270a-435a-a0ea-adf50b4e5f5a - State changed from starting to up\n";
  const second = "<190>1 2026-11-23T08:00:00.386212+00:00 host app web.1 - - [x] 2 < 3 ü\n";
  const body = [first, second].map((frame) => `${Buffer.byteLength(frame)} ${frame}`).join("");
  const whole = decode(syslog({ heroku: true }), body).entries;
  expect(whole.map(({ message, service, host, level }) => ({ message, service, host, level }))).toEqual([
    { message: "State changed from starting to up", service: "web.3", host: "heroku", level: "fatal" },
    { message: "- [x] 2 < 3 ü", service: "app", host: "host", level: "info" },
  ]);
  expect(whole[1]).toMatchObject({
    time: 1795420800386.212,
    data: { syslog: { procid: "web.1", facility: "local7" } },
  });
  for (let size = 1; size < body.length; size++) {
    expect(decode(syslog({ heroku: true }), body, size).entries).toEqual(whole);
  }
});

const M = (text: string) => `<14>1 - h a - - - ${text}`;
const counted = (text: string, error = 0) => `${text.length + error} ${text}`;

test.each([
  [
    "a count that is too small",
    counted(M("one é"), -3) + counted(M("two")) + counted(M("three")),
    ["one é", "two", "three"],
  ],
  [
    "a count that is too large",
    counted(M("one"), 1) + counted(M("two"), 1) + counted(M("three")),
    ["one", "two", "three"],
  ],
  ["a count that is far too large, of lines", `${counted(M("one"), 30)}\n${counted(M("two"))}\n`, ["one", "two"]],
  ["a wrong count before lines", `${counted(M("one two"), -4)}\n${M("three")}`, ["one two", "three"]],
  ["line breaks between frames", `${counted(M("one"))}\n${counted(M("two"))}\r\n`, ["one", "two"]],
  ["line breaks in frames", counted(M("one\n at x")) + counted(M("two")), ["one\n at x", "two"]],
  [
    "the end of a message, then frames",
    `rest of 7${counted(M("one"))}${counted(M("two"))}`,
    ["rest of 7", "one", "two"],
  ],
  ["the end of a line, then frames", `rest\n${counted(M("one"))}${counted(M("two"))}`, ["rest", "one", "two"]],
  ["lines that look like frames", `${M("one")}\n5 <3> items\n900 <1> more`, ["one", "5 <3> items", "900 <1> more"]],
  [
    "messages of several lines",
    `${M("one\n\tat x\n at y")}\n${M("two")}\n three`,
    ["one\n\tat x\n at y", "two\n three"],
  ],
  ["lines without a priority", "one\n two\n", ["one", " two"]],
])("reads %s, in chunks of every size", (_, text, wanted) => {
  // One character a byte, as in a count of characters.
  const body = Buffer.from(text, "latin1");
  for (let size = 1; size <= body.length; size++) {
    expect([size, decode(syslog(), body, size).entries.map(({ message }) => message)]).toEqual([size, wanted]);
  }
});

test("marks a message whose body ends before its count", () => {
  const first = counted(M("one"));
  const { entries } = decode(syslog(), first + counted(M("two and more")).slice(0, -9));
  expect(entries.map(({ message, marks }) => [message, marks])).toEqual([
    ["one", undefined],
    ["two", { cut: { message: M("two and more").length } }],
  ]);
});

test("reads a JSON message as a record, with the level and time of its own", () => {
  const line = `<190>1 2026-11-23T08:00:00Z h app web.1 - - {"level":50,"time":1795420800123,"msg":"failed","order":7}`;
  expect(only(line)).toMatchObject({
    time: 1795420800123,
    level: "error",
    message: "failed",
    service: "app",
    data: { order: 7 },
  });
  expect(only(`<13>Nov 23 08:00:00 h a: @cee: {"msg":"m"}`)).toMatchObject({ message: "m", level: "info" });
});

const OLD = [
  [
    "<34>Oct 11 22:14:15 mymachine su: 'su root' failed",
    { host: "mymachine", service: "su", message: "'su root' failed" },
  ],
  ["<30>Nov  3 01:02:03 web-1 nginx[4711]: GET /", { service: "nginx", message: "GET /", procid: "4711" }],
  ["<30>Nov  3 01:02:03 kernel: oops", { service: "kernel", message: "oops", host: undefined }],
  ["<30>Nov 23 01:02:03 h no process here", { host: "h", service: undefined, message: "no process here" }],
  ["<13>2026-11-23T08:00:00.5+01:00 h app[1]: text", { host: "h", service: "app", message: "text" }],
  ["<189>123: *Nov 23 08:00:00.123 UTC: %SYS-5-CONFIG_I: Configured", { host: undefined, service: "%SYS-5-CONFIG_I" }],
  ["<189>Nov 23 2025 08:00:00 fw : %ASA-6-302013: Built", { host: "fw", message: ": %ASA-6-302013: Built" }],
] as const;

test.each(OLD)("reads %s", (line, { ...wanted }) => {
  const entry = only(line);
  const syslog = entry?.data.syslog;
  const found = { ...entry, ...(typeof syslog === "object" && syslog) };
  for (const [name, value] of Object.entries(wanted)) expect([name, Reflect.get(found, name)]).toEqual([name, value]);
});

test("a line without a priority is a message as it is", () => {
  expect(only("just text")).toEqual({ time: null, level: null, message: "just text", data: {} });
  expect(only("<999>1 text")).toMatchObject({ message: "<999>1 text", level: null });
});

const YEARS = [
  ["2026-11-23T10:00:00Z", "Oct 11 22:14:15", "2026-10-11T22:14:15Z"],
  ["2026-11-23T10:00:00Z", "Nov 24 08:00:00", "2026-11-24T08:00:00Z"],
  ["2026-11-23T10:00:00Z", "Dec 24 08:00:00", "2025-12-24T08:00:00Z"],
  ["2027-01-01T00:00:05Z", "Dec 31 23:59:59", "2026-12-31T23:59:59Z"],
  ["2026-12-31T23:30:00Z", "Jan  1 00:30:00", "2027-01-01T00:30:00Z"],
  ["2026-11-23T10:00:00Z", "Feb 29 00:00:00", "2024-02-29T00:00:00Z"],
] as const;

test.each(YEARS)("at %s, the local time %s is of the year that is next to it", (now, local, wanted) => {
  expect(only(`<13>${local} h a: m`, { now: Date.parse(now) })?.time).toBe(Date.parse(wanted));
});

test("reads local times in a zone, also beside a change of the clocks", () => {
  const zone = zoneOf("Europe/Berlin") ?? utc;
  const at = (local: string) => only(`<13>${local} h a: m`, { zone })?.time;
  expect(at("Nov 23 10:00:00")).toBe(Date.parse("2026-11-23T09:00:00Z"));
  expect(at("Jul 23 10:00:00")).toBe(Date.parse("2026-07-23T08:00:00Z"));
  expect(at("Oct 25 01:59:59")).toBe(Date.parse("2026-10-24T23:59:59Z"));
  expect(at("Oct 25 03:00:00")).toBe(Date.parse("2026-10-25T02:00:00Z"));
  expect(only("<13>Nov 23 10:00:00 h a: m", { zone: zoneOf("-05:30") ?? utc })?.time).toBe(
    Date.parse("2026-11-23T15:30:00Z"),
  );
  expect(zoneOf("Mars/Olympus")).toBe(null);
});

test("reads Latin-1, and drops line ends", () => {
  const bytes = Buffer.concat([
    Buffer.from("<13>Nov 23 08:00:00 h a: gr"),
    Buffer.of(0xfc),
    Buffer.from("n\r\n\n  \n\0"),
  ]);
  expect(decode(syslog(), bytes).entries.map(({ message }) => message)).toEqual(["grün"]);
});

test.each([
  ["lines", (text: string) => `${text}\n<13>1 - h a - - - next\n`],
  ["frames", (text: string) => `${text.length} ${text}23 <13>1 - h a - - - next\n`],
])("cuts a message of 3 MB in %s and holds a part of it only", (_, body) => {
  const text = `<13>1 - h a - - - ${"x".repeat(3_000_000)}`;
  const { entries, held } = decode(syslog(), body(text), 65_536);
  expect(entries.map(({ message }) => message?.slice(0, 4))).toEqual(["xxxx", "next"]);
  expect(entries[0]?.message?.length).toBeGreaterThan(200_000);
  expect(entries[0]?.marks?.cut).toEqual({ message: text.length });
  expect(held).toBeLessThan(1_100_000);
});

test("keeps the time, host and program beside those of a JSON message", () => {
  const own = '{"time":"2026-11-23T08:00:01Z","hostname":"pod","service":"shop","msg":"m"}';
  expect(only(`<14>1 2026-11-23T08:00:02.123456Z web-1 app - - - ${own}`)).toMatchObject({
    time: Date.parse("2026-11-23T08:00:01Z"),
    host: "pod",
    service: "shop",
    data: { syslog: { timestamp: "2026-11-23T08:00:02.123456Z", host: "web-1", app: "app" } },
  });
  const same = only('<14>1 2026-11-23T08:00:01Z web-1 app - - - {"time":"2026-11-23T08:00:01Z","msg":"m"}');
  expect(same?.data.syslog).toEqual({ facility: "user", severity: "info" });
});
