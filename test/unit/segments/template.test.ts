import { describe, expect, test } from "vitest";
import { findRestValues, parseTemplate, placeOf } from "../../../src/logs/segments/template.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const template = parseTemplate(bytes('{"a":#,"b":*,"c":{"d":*,"e":{},"f":{"g":*}},"a.b":#}'));

describe("a template", () => {
  test("says where the value of a path is", () => {
    if (template === null) throw new Error("The template is valid.");
    const places = [
      ["a"],
      ["b"],
      ["b", "x"],
      ["c"],
      ["c", "d"],
      ["c", "e"],
      ["c", "e", "x"],
      ["a.b"],
      ["a", "b"],
      ["z"],
      [],
    ];
    expect(places.map((path) => placeOf(template, path))).toEqual([
      ...["column", "rest", "rest", "object", "rest", "object", "absent", "column", "absent", "absent", "object"],
    ]);
    const opaque = parseTemplate(bytes("*"));
    expect(opaque && placeOf(opaque, ["a", "b"])).toBe("rest");
  });

  test("gives the text of rest, and finds the values in it", () => {
    if (template === null) throw new Error("The template is valid.");
    expect(template.restPieces.map((piece) => Buffer.from(piece).toString())).toEqual([
      '{"b":',
      ',"c":{"d":',
      ',"f":{"g":',
      "}}}",
    ]);
    const ends = new Int32Array(3);
    expect(findRestValues(bytes('{"b":[1],"c":{"d":"x","f":{"g":null}}}'), template, ends)).toBe(true);
    expect([...ends]).toEqual([8, 21, 35]);
    expect(findRestValues(bytes('{"b":[1],"c":{"d":"x","f":{"g":null}}'), template, ends)).toBe(false);
    expect(findRestValues(bytes('{"b":[1'), template, ends)).toBe(false);
  });

  test("is refused if a name occurs twice or its text is not complete", () => {
    for (const text of ['{"a":#,"a":#}', '{"a":#', "", "x", '{"a":1}', '{"a":#}}', "{,}", '{"a"}', "{".repeat(100)]) {
      expect(parseTemplate(bytes(text))).toBeNull();
    }
  });
});
