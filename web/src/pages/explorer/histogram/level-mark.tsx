import type { Level } from "../../../model/types.ts";
import { number } from "../view/format.ts";
import css from "./level-mark.module.css";

/** A level with its colour and an optional count. */
export function LevelMark({ level, count }: { level: Level; count?: number }) {
  return (
    <span class={css.level}>
      <span class={`${css.dot} ${css[level]}`} />
      {level}
      {count === undefined ? null : <span class={css.count}>{number(count)}</span>}
    </span>
  );
}
