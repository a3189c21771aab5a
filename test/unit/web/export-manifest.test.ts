import { expect, test } from "vitest";
import { writeFooter } from "../../../src/logs/segments/parquet/write-footer.ts";
import { ndjsonEnd, parquetEnd, verifyCommand } from "../../../web/src/pages/settings/export-manifest.ts";

const manifest = { count: 2, sha256: "ab", complete: true, through: 9, until: 9, unreadable: 0, missing: 0 };
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

test("the manifest is the last line, and no other line is taken for it", () => {
  const entry = JSON.stringify({ message: "x", data: { manifest: { count: 9 } } });
  const last = `${JSON.stringify({ manifest })}\n`;
  const end = ndjsonEnd(bytesOf(`half a line"}\n${entry}\n${last}`));
  expect(end).toEqual({ manifest, endBytes: last.length });
  expect(end && verifyCommand("a.ndjson", 100 + last.length, end)).toBe("head -c 100 a.ndjson | openssl dgst -sha256");
  expect(ndjsonEnd(bytesOf(last))).toEqual({ manifest, endBytes: last.length });
  expect(ndjsonEnd(bytesOf(`${entry}\n`))).toBeNull();
  expect(ndjsonEnd(bytesOf(last.slice(0, -3)))).toBeNull();
  expect(ndjsonEnd(bytesOf(""))).toBeNull();
});

test("the manifest of Parquet is a property of a whole footer", () => {
  const footerOf = (properties: [string, string][]): Uint8Array =>
    writeFooter({
      rows: 0,
      columns: [],
      rowGroups: [],
      properties: new Map([["taffrail.manifest.of", "{}"], ...properties]),
      createdBy: "test",
    });
  const long = { ...manifest, note: "x".repeat(300) };
  const footer = footerOf([["taffrail.manifest", JSON.stringify(long)]]);
  const file = new Uint8Array([...bytesOf("PAR1 pages"), ...footer]);
  expect(parquetEnd(file)).toEqual({ manifest: long, endBytes: footer.length });
  expect(parquetEnd(file.subarray(10))).toEqual({ manifest: long, endBytes: footer.length });
  // Part of a footer, a file that ends early, and one without a manifest.
  expect(parquetEnd(file.subarray(11))).toBeNull();
  expect(parquetEnd(file.subarray(0, -1))).toBeNull();
  expect(parquetEnd(new Uint8Array())).toBeNull();
  expect(parquetEnd(footerOf([["other", "{}"]]))).toBeNull();
});
