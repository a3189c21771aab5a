import { LEVELS } from "../../model/types.ts";
import { Card } from "../../ui/page.tsx";
import { LevelMark } from "../explorer/histogram/level-mark.tsx";
import css from "./dev-ui.module.css";

const COLOURS = [
  ...["page", "card", "raised", "sunk", "hover", "line", "line-control", "line-strong"],
  ...["text", "quiet", "faint", "accent", "accent-soft", "mark"],
  ...["good", "good-soft", "warn", "warn-soft", "error", "error-soft"],
  ...LEVELS.map((level) => `fill-${level}`),
  ...[1, 2, 3, 4, 5, 6, "rest"].map((name) => `series-${name}`),
];

const LEVEL_TEXTS = LEVELS.map((level) => ({
  level,
  token: level === "warn" || level === "error" ? `${level}-level` : level,
}));
const SYNTAX = ["key", "string", "number", "word"];
const SIZES = ["tiny", "small", "", "large", "title", "display"];

/** Colours, levels and type. */
export function TokenSamples() {
  return (
    <>
      <Card title="Colours">
        <ul class={css.swatches}>
          {COLOURS.map((name) => (
            <li key={name} class={css.swatch}>
              <span class={css.colour} style={{ "--sample": `var(--${name})` }} />
              {name}
            </li>
          ))}
        </ul>
      </Card>
      <Card title="Levels and syntax">
        <p class={css.words}>
          {LEVEL_TEXTS.map(({ level, token }) => (
            <span key={level} class={css.word} style={{ "--sample": `var(--${token})` }}>
              {level}
            </span>
          ))}
        </p>
        <p class={css.words}>
          {LEVELS.map((level, at) => (
            <LevelMark key={level} level={level} count={10 ** at} />
          ))}
        </p>
        <p class={css.words}>
          {SYNTAX.map((name) => (
            <span key={name} class={css.word} style={{ "--sample": `var(--syntax-${name})` }}>
              {name}
            </span>
          ))}
          <mark>match</mark>
        </p>
      </Card>
      <Card title="Type">
        <div class={css.type}>
          {SIZES.map((size) => (
            <p key={size} style={{ fontSize: `var(--font${size === "" ? "" : `-${size}`})`, lineHeight: "1.3" }}>
              {size || "normal"} 0123456789 1,111,111
            </p>
          ))}
          <p>
            <code>const rows = await search("level:error");</code>
          </p>
        </div>
      </Card>
    </>
  );
}
