import { LEVELS, type Level } from "../../../model/types.ts";
import { Field } from "../../../ui/field.tsx";
import { Select } from "../../../ui/select.tsx";
import { LevelMark } from "../histogram/level-mark.tsx";
import css from "./filter-panel.module.css";

interface LevelFilterProps {
  levels: readonly Level[];
  minLevel: Level | null;
  onLevels: (levels: Level[]) => void;
  onMinLevel: (level: Level | null) => void;
}

export function LevelFilter({ levels, minLevel, onLevels, onMinLevel }: LevelFilterProps) {
  return (
    <fieldset class={css.group}>
      <legend>Level</legend>
      <div class={css.levels}>
        {[...LEVELS].reverse().map((level) => (
          <label key={level} class={css.check}>
            <input
              type="checkbox"
              checked={levels.includes(level)}
              onChange={({ currentTarget }) =>
                onLevels(LEVELS.filter((each) => (each === level ? currentTarget.checked : levels.includes(each))))
              }
            />
            <LevelMark level={level} />
          </label>
        ))}
      </div>
      <Field label="At least">
        {(props) => (
          <Select
            {...props}
            value={minLevel ?? ""}
            options={[
              { value: "", label: "any level" },
              ...LEVELS.slice(minLevel === "trace" ? 0 : 1).map((level) => ({ value: level, label: level })),
            ]}
            onChange={(level) => onMinLevel(level === "" ? null : level)}
          />
        )}
      </Field>
    </fieldset>
  );
}
