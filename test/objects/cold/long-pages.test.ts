import { createHash } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { compressLong } from "../../../src/logs/segments/parquet/page-codec.ts";

const ENCODINGS = ["hex", "base64", "base64url"] as const;

test("16: a page of any length becomes one frame of zstd, also if one call of workerd's zstd fails with it", async () => {
  for (let seed = 0; seed < 15; seed++) {
    const encoding = ENCODINGS[seed % ENCODINGS.length] ?? "hex";
    const textOf = (at: number) => createHash("sha256").update(`${seed} ${at}`).digest(encoding);
    const texts = Array.from(
      { length: 300 + seed * 900 },
      (_, at) => `GET /orders/${textOf(at).slice(0, 8 + 3 * seed)} completed`,
    );
    const raw = Buffer.from(texts.sort().join(""));
    const steps = compressLong(raw);
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) await step.value;
    expect(step.value.length).toBeLessThan(raw.length);
    const options = { maxOutputLength: raw.length + 262_144, chunkSize: raw.length + 64 };
    expect(Buffer.compare(zstdDecompressSync(step.value, options), raw)).toBe(0);
  }
});
