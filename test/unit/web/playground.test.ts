import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clock } from "../../../web/src/lib/now.ts";
import { clientCode, curlCommand, pageCode } from "../../../web/src/pages/playground/code.ts";
import { FIRST_FORM, formOutgoing, rawOutgoing } from "../../../web/src/pages/playground/draft.ts";

const raw = (text: string) => {
  const result = rawOutgoing(text);
  return result.ok ? [result.outgoing.shape, result.outgoing.entries.length, result.warnings.length] : result.error;
};

describe("the JSON editor", () => {
  it("detects the shape that the service would", () => {
    expect(raw('{"message": "m"}')).toEqual(["entry", 1, 0]);
    expect(raw('[{"message": "m"}, {"message": "n"}]')).toEqual(["array", 2, 0]);
    expect(raw('{"logs": [{"message": "m"}]}')).toEqual(["logs", 1, 0]);
    expect(raw('{"message": "m", "logs": [1]}')).toEqual(["entry", 1, 0]);
    expect(raw('{"message": "m"}\n\n{"message": "n"}\n')).toEqual(["ndjson", 2, 0]);
  });

  it("reports where the text is invalid", () => {
    expect(raw("")).toContain("Enter one entry");
    expect(raw('[{"message": "m"},')).toContain("Invalid JSON.");
    expect(raw('{"message": "m"}\n{"message": }')).toContain("Line 2:");
    expect(raw("[]")).toBe("Enter at least one entry.");
    expect(raw('"text"')).toContain("JSON object");
  });

  it("warns about entries that the service will reject", () => {
    const bad = [
      { message: "" },
      { message: 1 },
      { message: "m", level: "urgent" },
      { message: "m", category: "http", type: "query" },
      { message: "m", data: [] },
      null,
    ];
    expect(raw(JSON.stringify([...bad, { message: "m", category: "mine", type: "any" }]))).toEqual(["array", 7, 6]);
  });

  it("warns about an integer that would lose digits, and about no other", () => {
    const entry = (number: string) => `{"message": "m", "data": {"list": [{"id": ${number}}]}}`;
    expect(raw(entry("9007199254740993"))).toEqual(["entry", 1, 1]);
    expect(raw(`${entry("1")}\n${entry("12345678901234567890")}`)).toEqual(["ndjson", 2, 1]);
    for (const number of ["9007199254740992", "1e20", "0.12345678901234567", '"9007199254740993"']) {
      expect([number, raw(entry(number))]).toEqual([number, ["entry", 1, 0]]);
    }
    const form = formOutgoing({ ...FIRST_FORM, data: '{"id": 9007199254740993}' });
    expect(form).toMatchObject({ ok: false, errors: { data: expect.stringContaining("too large") } });
  });
});

describe("the form", () => {
  it("builds an entry or reports the invalid member", () => {
    expect(formOutgoing({ ...FIRST_FORM, message: "m", data: "" })).toMatchObject({
      ok: true,
      outgoing: { body: '{"level":"warn","category":"http","type":"response","message":"m"}' },
    });
    const wrong = formOutgoing({ level: "info", category: "", type: "x".repeat(65), message: "", data: "[1]" });
    expect(wrong.ok ? [] : Object.keys(wrong.errors).sort()).toEqual(["category", "data", "message", "type"]);
  });
});

describe("the code panel", () => {
  const target = { origin: "http://127.0.0.1:1", projectId: "proj_x", apiKey: "sk_x" };
  const call = { method: "POST", path: "/logger/proj_x/log", token: "sk_x", contentType: "application/json" } as const;

  it("quotes any text for a shell", () => {
    const texts = fc.string({ unit: "grapheme", maxLength: 40 }).filter((text) => !text.includes("\0"));
    fc.assert(
      fc.property(texts, (body) => {
        const command = curlCommand(target.origin, { ...call, body }).replace(/^curl/, "printf '%s\\0'");
        const said = execFileSync("sh", ["-c", command], { encoding: "utf8" }).split("\0");
        expect(said[said.indexOf("--data-raw") + 1]).toBe(body);
      }),
      { numRuns: 60 },
    );
  });

  it("writes any JSON as a literal of the same value", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (data) => {
        const code = pageCode("/logs", {
          label: "",
          level: "info",
          category: "custom",
          type: "log",
          message: "m",
          data,
        });
        const fields = /logger\.info\("m"(?:, ([\s\S]*))?\);$/.exec(code)?.[1] ?? "{}";
        expect(JSON.stringify(new Function(`return ${fields}`)())).toBe(JSON.stringify(data));
      }),
    );
  });

  it("keeps members that are not arguments of a call", () => {
    const entry = {
      message: "m",
      level: "debug",
      traceId: "t",
      category: "mine",
      own: 1,
      data: { a: 1 },
      timestamp: 0,
    };
    const result = rawOutgoing(JSON.stringify(entry));
    const code = result.ok ? clientCode(target, result.outgoing) : "";
    expect(code).toContain('logger.child({ traceId: "t" }).category("mine").debug("m", { own: 1, a: 1 });');
    expect(code).toContain('"mine": string;');
    expect(code).toContain('level: "trace"');
  });
});

it("formats a duration as a clock", () => {
  expect([0, 999, 61_000, 3_600_000, -5].map(clock)).toEqual(["0:00", "0:01", "1:01", "1:00:00", "0:00"]);
});
