import { LEVELS } from "../../../model/types.ts";
import { LevelMark } from "../../explorer/histogram/level-mark.tsx";
import { number } from "../../explorer/view/format.ts";
import css from "./compare.module.css";
import type { Counts } from "./counts.ts";
import { ShareBars } from "./share-bars.tsx";

/**
 * Entries by level, the most severe first.
 * @param before `null`: has too few entries to compare with
 */
export function LevelTable({ before, now }: { before: Counts | null; now: Counts }) {
  const shown = LEVELS.filter((level) => before?.levels.has(level) || now.levels.has(level)).reverse();
  if (shown.length === 0) return <p class={css.none}>No entries.</p>;
  return (
    <table class={css.table}>
      <thead>
        <tr>
          <th scope="col">Level</th>
          {before === null ? null : (
            <th scope="col" data-number="true">
              Before
            </th>
          )}
          <th scope="col" data-number="true">
            Now
          </th>
          <th scope="col">Share</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((level) => {
          const [a, b] = [before?.levels.get(level) ?? 0, now.levels.get(level) ?? 0];
          return (
            <tr key={level}>
              <td>
                <LevelMark level={level} />
              </td>
              {before === null ? null : <td data-number="true">{number(a)}</td>}
              <td data-number="true">{number(b)}</td>
              <td class={css.bars}>
                <ShareBars before={before && shareOf(a, before.total)} now={shareOf(b, now.total)} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function shareOf(count: number, total: number): number {
  return total === 0 ? 0 : count / total;
}
