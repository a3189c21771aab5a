import { BellOff } from "lucide";
import { useState } from "preact/hooks";
import { type Action, useAction } from "../../lib/action.ts";
import { zone } from "../../lib/zone.ts";
import { type Alert, changeAlert, type Mute } from "../../model/alerts.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { readMoment, writtenTime } from "../explorer/view/time-text.ts";
import { isSpan } from "./state.ts";

const HOUR_MS = 3_600_000;
const LENGTHS = [
  { label: "For 1 hour", ms: HOUR_MS },
  { label: "For 4 hours", ms: 4 * HOUR_MS },
  { label: "For 1 day", ms: 24 * HOUR_MS },
  { label: "For 1 week", ms: 168 * HOUR_MS },
];

interface MuteMenuProps {
  workspaceId: string;
  alert: Alert;
  now: number;
  small?: boolean;
  onChanged: (alert: Alert) => void;
}

/** Mutes an alert for a while, or ends its mutes. */
export function MuteMenu({ workspaceId, alert, now, small = false, onChanged }: MuteMenuProps) {
  const [isCustom, setCustom] = useState(false);
  const changing = useAction(async (mutes: Alert["mutes"]) => {
    onChanged(await changeAlert(workspaceId, alert, { mutes }));
    setCustom(false);
  });
  const spans = alert.mutes.filter(isSpan);
  const isMuted = spans.some(({ from, to }) => Date.parse(from) <= now && now < Date.parse(to));
  // What is over is of no use, and an alert has few mutes.
  const kept = alert.mutes.filter((mute) => !isSpan(mute) || Date.parse(mute.to) > now);
  const mute = (mute: Mute): Promise<void> => changing.run([...kept, mute]);
  const muteFor = (ms: number): Promise<void> => {
    const from = Date.now();
    return mute({ from: new Date(from).toISOString(), to: new Date(from + ms).toISOString() });
  };
  return (
    <>
      {isMuted ? (
        <Button
          small={small}
          busy={changing.busy}
          onClick={() => void changing.run(kept.filter((mute) => !isSpan(mute) || Date.parse(mute.from) > now))}
        >
          Unmute<span class="visually-hidden"> {alert.name}</span>
        </Button>
      ) : (
        <Menu
          label="Mute"
          icon={BellOff}
          small={small}
          items={[
            ...LENGTHS.map(({ label, ms }) => ({ label, onSelect: () => void muteFor(ms) })),
            { label: "Other times …", startsGroup: true, onSelect: () => setCustom(true) },
          ]}
        />
      )}
      {changing.failure === null || isCustom ? null : <Problem failure={changing.failure} />}
      {isCustom ? (
        <MuteDialog name={alert.name} changing={changing} onMute={mute} onClose={() => setCustom(false)} />
      ) : null}
    </>
  );
}

const WRONG = "Must be a time, such as 2026-11-20 22:00.";

interface MuteDialogProps {
  name: string;
  changing: Pick<Action<[]>, "busy" | "failure">;
  onMute: (mute: Mute) => Promise<void>;
  onClose: () => void;
}

function MuteDialog({ name, changing, onMute, onClose }: MuteDialogProps) {
  const [from, setFrom] = useState(() => writtenTime(minuteOf(Date.now()), zone.value));
  const [to, setTo] = useState(() => writtenTime(minuteOf(Date.now() + HOUR_MS), zone.value));
  const now = Date.now();
  const [start, end] = [readMoment(from, now, zone.value), readMoment(to, now, zone.value)];
  const isReady = start !== null && end !== null && end > start && end > now;
  const order =
    end !== null && start !== null && end <= start
      ? "Must be after the beginning."
      : end !== null && end <= now
        ? "Must be in the future."
        : undefined;
  return (
    <Dialog title={`Mute ${name}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void onMute({ from: new Date(start).toISOString(), to: new Date(end).toISOString() });
        }}
      >
        <MomentField
          label="From"
          hint={`By the clock of ${zone.value}.`}
          error={start === null ? WRONG : undefined}
          text={from}
          onText={setFrom}
        />
        <MomentField
          label="To"
          hint="The alert goes on deciding. What still fires at the end is reported then."
          error={end === null ? WRONG : order}
          text={to}
          onText={setTo}
        />
        <Problem failure={changing.failure} />
        <Row>
          <Button type="submit" look="primary" busy={changing.busy} disabled={!isReady}>
            Mute
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}

interface MomentFieldProps {
  label: string;
  hint: string;
  error: string | undefined;
  text: string;
  onText: (text: string) => void;
}

function MomentField({ label, hint, error, text, onText }: MomentFieldProps) {
  /** Not while it is typed: each time begins as something else. */
  const [isLeft, setLeft] = useState(false);
  return (
    <Field label={label} hint={hint} error={isLeft ? error : undefined}>
      {(props) => (
        <input
          {...props}
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onText(event.currentTarget.value)}
          onBlur={() => setLeft(true)}
          onKeyDown={(event) => {
            // A form whose button is disabled does not say why.
            if (event.key === "Enter") setLeft(true);
          }}
        />
      )}
    </Field>
  );
}

/** The whole minute before a time. */
function minuteOf(ms: number): number {
  return Math.floor(ms / 60_000) * 60_000;
}
