import { Plus, X } from "lucide";
import { useState } from "preact/hooks";
import { WEEKDAYS, type Weekday } from "../../../../src/alerts/mutes.ts";
import type { Mute } from "../../model/alerts.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Row } from "../../ui/page.tsx";
import css from "./alerts.module.css";
import { ClockField } from "./clock-field.tsx";
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
  const [start, setStart] = useState<string | null>("00:00");
  const [end, setEnd] = useState<string | null>("00:00");
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const isReady = days.length > 0 && start !== null && end !== null && mutes.length < MAX_MUTES;
  const add = (): void => {
    if (isReady) onChange([...mutes, { days, start, end, timeZone }]);
  };
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
        <ClockField label="Mute from" time={start} onChange={setStart} onEnter={add} />
        <ClockField label="Mute until" time={end} onChange={setEnd} onEnter={add} />
      </div>
      <Row>
        <Button small icon={Plus} disabled={!isReady} onClick={add}>
          Add mute
        </Button>
      </Row>
      <p class={css.hint}>On these days by the clock of {timeZone}. An end that is not later is on the next day.</p>
    </fieldset>
  );
}
