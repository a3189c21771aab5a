import { describe, expect, test } from "vitest";
import { bytesOf, encode, line, linesIn } from "../../unit/segments/support.ts";

/** Text that zstd cannot shrink to the 40 KiB that workerd's writes at most. */
function noise(length: number, seed: number): string {
  let state = seed;
  let text = "";
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += String.fromCharCode(33 + ((state >>> 16) % 58));
  }
  return text.replaceAll('"', "~").replaceAll("\\", "~");
}

describe("segment files in workerd", () => {
  test("lines come back, whether zstd can write their pages or not", () => {
    const lines = Array.from({ length: 1500 }, (_, at) =>
      line({ at, ratio: at / 3, id: noise(40, at + 1), tags: [at] }, { traceId: `${at}`.padStart(32, "0") }, at),
    );
    for (const size of [70_000, 300_000, 1_000_000]) lines.push(line({ id: noise(size, size) }, {}, size));
    const file = encode(lines, { groupRows: 1000 });
    expect(linesIn(bytesOf(file)).map((own) => own.toString())).toEqual(lines);
  });
});
