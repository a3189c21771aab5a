import { visible } from "../../lib/visible.ts";
import { timeFormat } from "../../lib/zone.ts";
import type { Alert } from "../../model/alerts.ts";
import { Time } from "../../ui/time.tsx";
import css from "./alert-list.module.css";
import { AlertState } from "./alert-state.tsx";
import { MuteMenu } from "./mute-menu.tsx";
import { Sparkline } from "./sparkline.tsx";
import { conditionPhrase, durationText } from "./words.ts";

const MINUTE = timeFormat({ dateStyle: "medium", timeStyle: "short" });

interface AlertRowProps {
  row: (element: HTMLLIElement | null) => void;
  workspaceId: string;
  alert: Alert;
  projectName: string;
  values: readonly number[] | undefined;
  now: number;
  mayChange: boolean;
  onChanged: (alert: Alert) => void;
}

/** An alert in the list: state, rule, recent values and its latest firing. */
export function AlertRow({ row, workspaceId, alert, projectName, values, now, mayChange, onChanged }: AlertRowProps) {
  const { name, projectId, id, query, condition, window, lastFiredAt } = alert;
  return (
    <li ref={row} class={css.row} data-state={alert.state}>
      <div class={css.what}>
        <p class={css.name}>
          <a href={`/w/${workspaceId}/alerts/${projectId}/${id}`}>{visible(name)}</a>{" "}
          <AlertState alert={alert} now={now} />
        </p>
        <p class={css.rule}>
          <code>{visible(query)}</code>
        </p>
        <p class={css.facts}>
          {projectName} · {conditionPhrase(condition)} in {durationText(window)} ·{" "}
          {lastFiredAt === null ? (
            "never fired in 30 days"
          ) : (
            <>
              last fired <Time at={lastFiredAt} format={MINUTE} />
            </>
          )}
        </p>
      </div>
      <Sparkline values={values} />
      <span class={css.rowActions}>
        {mayChange ? <MuteMenu workspaceId={workspaceId} alert={alert} now={now} small onChanged={onChanged} /> : null}
      </span>
    </li>
  );
}
