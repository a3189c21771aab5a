import { slotsColumn } from "../../../src/logs/cold/filter/block-filter.ts";
import type { TokenTest } from "../../../src/logs/cold/filter/token-tests.ts";
import type { EncodedSegment } from "../../../src/logs/cold/format/segment.ts";
import { toHex } from "../../../src/logs/cold/store/hex.ts";

const SLOT = /\(\((\d+) \* \(length\(frame_filter\)/g;

/** The result of D1 for `slotsColumn`, computed here from the numbers in the statement. */
export function probesOfSlots({ blockFilter, slotBytes }: EncodedSegment, tests: readonly TokenTest[]): string {
  const sql = slotsColumn(tests);
  if (sql === null || slotBytes === 0) return "";
  const slots = BigInt(blockFilter.length / slotBytes);
  return [...sql.matchAll(SLOT)]
    .map(([, place = "0"]) => {
      const start = Number((BigInt(place) * slots) >> 32n) * slotBytes;
      return toHex(blockFilter.subarray(start, start + slotBytes));
    })
    .join("");
}
