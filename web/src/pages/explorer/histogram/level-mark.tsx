import type { Level } from "../../../model/types.ts";
import { number, short } from "../view/format.ts";
import css from "./level-mark.module.css";

interface LevelMarkProps {
  level: Level;
  count?: number;
  /** Shows the first letter, by which levels differ, and a rounded count. */
  isShort?: boolean;
}

/** A level with its colour and an optional count. */
export function LevelMark({ level, count, isShort = false }: LevelMarkProps) {
  return (
    <span class={css.level} data-short={isShort}>
      <span class={`${css.dot} ${css[level]}`} />
      {isShort ? (
        <>
          <span class={css.letter} aria-hidden="true">
            {level.charAt(0)}
          </span>
          <span class="visually-hidden">{level}</span>
        </>
      ) : (
        level
      )}
      {count === undefined ? null : <span class={css.count}>{isShort ? short(count) : number(count)}</span>}
    </span>
  );
}
