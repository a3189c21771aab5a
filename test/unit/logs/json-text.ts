import fc from "fast-check";

/** JSON as text, as a hostile client may write it: white space, escapes, repeated names, odd numbers. */

const space = fc.array(fc.constantFrom(" ", "\n", "\t", "\r"), { maxLength: 2 }).map((parts) => parts.join(""));

const stringText = fc
  .array(
    fc.constantFrom(
      ...["a", "B", "é", "漢", "😀", "[", "]", "{", "}", ",", ":", "\\u0041", '\\"', "\\\\", "\\n", "\\/", "\\u0000"],
      ...["\\ud83d\\ude00", "\\ud800", "\\udc00", "\u2028"],
    ),
    { maxLength: 8 },
  )
  .map((parts) => `"${parts.join("")}"`);

export const ODD_NAMES = ["__proto__", "constructor", "toJSON", "hasOwnProperty", "toString", "length", "0", "", "a.b"];

const nameText = fc.oneof(
  fc.constantFrom(...ODD_NAMES.map((name) => JSON.stringify(name)), '"\\u005f_proto__"', '"a"', '"b"'),
  stringText,
);

const scalarText = fc.oneof(
  stringText,
  fc.constantFrom("0", "-0", "1", "-1.5e3", "12345678901234567890", "1e-400", "0.000", "1E+2", "true", "false", "null"),
);

const { valueText } = fc.letrec<{ valueText: string; arrayText: string; objectText: string }>((tie) => ({
  valueText: fc.oneof({ depthSize: "small", withCrossShrink: true }, scalarText, tie("arrayText"), tie("objectText")),
  arrayText: listText("[", fc.array(tie("valueText"), { maxLength: 4 }), "]"),
  objectText: listText("{", fc.array(fc.tuple(nameText, tie("valueText")).map(memberText), { maxLength: 4 }), "}"),
}));

function memberText([name, value]: readonly [string, string]): string {
  return `${name}:${value}`;
}

function listText(open: string, items: fc.Arbitrary<string[]>, close: string): fc.Arbitrary<string> {
  return fc
    .tuple(space, items, fc.array(fc.tuple(space, space), { minLength: 4, maxLength: 4 }))
    .map(([inner, texts, spaces]) => {
      const padded = texts.map((text, i) => `${spaces[i]?.[0] ?? ""}${text}${spaces[i]?.[1] ?? ""}`);
      return `${open}${padded.length === 0 ? inner : padded.join(",")}${close}`;
    });
}

export const whiteSpace = space;
/** Any JSON value. */
export const jsonText = valueText;
/** A member: name and value. */
export const jsonMember = fc.tuple(nameText, valueText);
