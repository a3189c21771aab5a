import { Plus, X } from "lucide";
import { useId } from "preact/hooks";
import { WEEKDAYS, type Weekday } from "../../../../src/alerts/mutes.ts";
import type { Mute } from "../../model/alerts.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Row } from "../../ui/page.tsx";
import css from "./alert-form.module.css";
import alertsCss from "./alerts.module.css";
import { ClockField } from "./clock-field.tsx";
import { DAYS, muteText } from "./definition-words.ts";

/** The limit of the service. */
const MAX_MUTES = 20;

interface MutesFieldProps {
  mutes: readonly Mute[];
  onChange: (mutes: readonly Mute[]) => void;
  /** The mute that is chosen and not added yet. */
  begun: BegunMute;
  onBegun: (begun: BegunMute) => void;
  /** What is wrong with the mute that is not added yet. */
  error: string | undefined;
}

/** A mute while it is chosen; a time is `null` while its text is none. */
export interface BegunMute {
  days: readonly Weekday[];
  start: string | null;
  end: string | null;
}

/** Nothing is chosen yet. */
export const NO_MUTE: BegunMute = { days: [], start: "00:00", end: "00:00" };

/** Whether a mute is chosen that is not among those of the rule, so that it would be lost. */
export function isBegun(begun: BegunMute, mutes: readonly Mute[]): boolean {
  return begun.days.length > 0 && !mutes.some((mute) => isSame(mute, begun));
}

function isSame(mute: Mute, { days, start, end }: BegunMute): boolean {
  const isOfClock = "days" in mute && mute.timeZone === ownTimeZone();
  return isOfClock && mute.days.join() === days.join() && mute.start === start && mute.end === end;
}

function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The mutes of a rule, and those of days of the week to add. */
export function MutesField({ mutes, onChange, begun, onBegun, error }: MutesFieldProps) {
  const { days, start, end } = begun;
  const errorId = useId();
  const timeZone = ownTimeZone();
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
            onClick={() => {
              onChange(mutes.filter((each) => each !== mute));
              // It is removed, and not one to add.
              if (isSame(mute, begun)) onBegun({ ...begun, days: [] });
            }}
          />
        </p>
      ))}
      <p class={alertsCss.hint}>{mutes.length === 0 ? "No mutes yet. " : ""}To add one, choose days and times:</p>
      <div class={css.days}>
        {WEEKDAYS.map((day) => (
          <label key={day}>
            <input
              type="checkbox"
              checked={days.includes(day)}
              aria-invalid={error !== undefined && day === days[0]}
              aria-describedby={error !== undefined && day === days[0] ? errorId : undefined}
              onChange={({ currentTarget }) =>
                onBegun({
                  ...begun,
                  days: WEEKDAYS.filter((each) => (each === day ? currentTarget.checked : days.includes(each))),
                })
              }
            />
            {DAYS[day]}
          </label>
        ))}
      </div>
      <div class={css.hours}>
        <ClockField label="Mute from" time={start} onChange={(start) => onBegun({ ...begun, start })} onEnter={add} />
        <ClockField label="Mute until" time={end} onChange={(end) => onBegun({ ...begun, end })} onEnter={add} />
      </div>
      {error === undefined ? null : (
        <p class={alertsCss.wrong} id={errorId} role="alert">
          {error}
        </p>
      )}
      <Row>
        <Button small icon={Plus} disabled={!isReady} onClick={add}>
          Add mute
        </Button>
      </Row>
      <p class={alertsCss.hint}>
        On these days by the clock of {timeZone}. An end that is not later is on the next day.
      </p>
    </fieldset>
  );
}
