import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Alert } from "../../model/alerts.ts";
import { AlertRow } from "./alert-row.tsx";
import { inBatches } from "./state.ts";
import { type Sparklines, useSparklines } from "./use-sparklines.ts";

interface AlertRowsProps {
  workspaceId: string;
  alerts: readonly Alert[];
  nameOf: (projectId: string) => string;
  now: number;
  mayChange: boolean;
  onChanged: (alert: Alert) => void;
}

/** The alerts of the list. Each keeps its row when its place changes, also into another batch. */
export function AlertRows({ workspaceId, alerts, nameOf, now, mayChange, onChanged }: AlertRowsProps) {
  const rows = useRef(new Map<string, HTMLLIElement>()).current;
  const [values, setValues] = useState<Sparklines>(new Map());
  const batches = useMemo(() => inBatches(alerts), [alerts]);
  const onLoaded = useCallback((batch: readonly Alert[], loaded: Sparklines) => {
    // Values of before that have no successor would be those of another query.
    const others = (before: Sparklines) => [...before].filter(([id]) => !batch.some((alert) => alert.id === id));
    setValues((before) => new Map([...others(before), ...loaded]));
  }, []);
  return (
    <>
      {alerts.map((alert) => (
        <AlertRow
          key={alert.id}
          row={(element) => {
            if (element === null) rows.delete(alert.id);
            else rows.set(alert.id, element);
          }}
          workspaceId={workspaceId}
          alert={alert}
          projectName={nameOf(alert.projectId)}
          values={values.get(alert.id)}
          now={now}
          mayChange={mayChange}
          onChanged={onChanged}
        />
      ))}
      {batches.map((batch, at) => (
        <BatchValues key={at} workspaceId={workspaceId} alerts={batch} rows={rows} onLoaded={onLoaded} />
      ))}
    </>
  );
}

/** Pixels around the window in which a row is near it. */
const NEAR = 200;

interface BatchValuesProps {
  workspaceId: string;
  alerts: readonly Alert[];
  /** Elements by the id of their alert. */
  rows: ReadonlyMap<string, HTMLLIElement>;
  onLoaded: (batch: readonly Alert[], values: Sparklines) => void;
}

/** Loads the values of a batch of alerts together, once a row of one of them is near the window. Renders nothing. */
function BatchValues({ workspaceId, alerts, rows, onLoaded }: BatchValuesProps) {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (isNear) return;
    const observer = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: `${NEAR}px` },
    );
    for (const { id } of alerts) {
      const row = rows.get(id);
      if (row !== undefined) observer.observe(row);
    }
    return () => observer.disconnect();
  }, [isNear, alerts]);
  const values = useSparklines(workspaceId, isNear ? alerts : []);
  useEffect(() => {
    if (isNear && values !== null) onLoaded(alerts, values);
  }, [values]);
  return null;
}
