import { Plus, X } from "lucide";
import { useState } from "preact/hooks";
import { WEEKDAYS, type Weekday } from "../../../../src/alerts/mutes.ts";
import type { Mute } from "../../model/alerts.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import css from "./alerts.module.css";
import { DAYS, muteText } from "./definition-words.ts";

/** The limit of the service. */
const MAX_MUTES = 20;

interface MutesFieldProps {
  mutes: readonly Mute[];
  onChange: (mutes: readonly Mute[]) => void;
}

/** The mutes of a rule, and those of days of the week to add. */
export function MutesField({ mutes, onChange }: MutesFieldProps) {
  const [days, setDays] = useState<readonly Weekday[]>([]);
  const [start, setStart] = useState("00:00");
  const [end, setEnd] = useState("00:00");
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const isReady = days.length > 0 && start !== "" && end !== "" && mutes.length < MAX_MUTES;
  return (
    <fieldset class={css.set}>
      <legend>Mutes</legend>
      {mutes.map((mute, at) => (
        <p key={JSON.stringify(mute)} class={css.mute}>
          {muteText(mute)}
          <IconButton
            icon={X}
            small
            label={`Remove mute ${at + 1}`}
            onClick={() => onChange(mutes.filter((each) => each !== mute))}
          />
        </p>
      ))}
      <p class={css.hint}>{mutes.length === 0 ? "No mutes yet. " : ""}To add one, choose days and times:</p>
      <div class={css.days}>
        {WEEKDAYS.map((day) => (
          <label key={day}>
            <input
              type="checkbox"
              checked={days.includes(day)}
              onChange={({ currentTarget }) =>
                setDays(WEEKDAYS.filter((each) => (each === day ? currentTarget.checked : days.includes(each))))
              }
            />
            {DAYS[day]}
          </label>
        ))}
      </div>
      <div class={css.hours}>
        <input
          type="time"
          aria-label="Mute from"
          value={start}
          onInput={({ currentTarget }) => setStart(currentTarget.value)}
        />
        <input
          type="time"
          aria-label="Mute until"
          value={end}
          onInput={({ currentTarget }) => setEnd(currentTarget.value)}
        />
        <Button
          small
          icon={Plus}
          disabled={!isReady}
          onClick={() => onChange([...mutes, { days, start, end, timeZone }])}
        >
          Add mute
        </Button>
      </div>
      <p class={css.hint}>On these days by the clock of {timeZone}. An end that is not later is on the next day.</p>
    </fieldset>
  );
}
