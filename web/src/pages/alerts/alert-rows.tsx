import { useEffect, useRef, useState } from "preact/hooks";
import type { Alert } from "../../model/alerts.ts";
import { AlertRow } from "./alert-row.tsx";
import { useSparklines } from "./use-sparklines.ts";

interface AlertRowsProps {
  workspaceId: string;
  alerts: readonly Alert[];
  nameOf: (projectId: string) => string;
  now: number;
  mayChange: boolean;
  onChanged: (alert: Alert) => void;
}

/** Alerts of the list whose small charts are loaded together, once one of them is near the window. */
export function AlertRows({ workspaceId, alerts, nameOf, now, mayChange, onChanged }: AlertRowsProps) {
  const rows = useRef(new Map<string, HTMLLIElement>());
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (isSeen) return;
    const observer = new IntersectionObserver((seen) => {
      if (seen.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    for (const row of rows.current.values()) observer.observe(row);
    return () => observer.disconnect();
  }, [isSeen, alerts]);
  const values = useSparklines(workspaceId, isSeen ? alerts : []);
  return (
    <>
      {alerts.map((alert) => (
        <AlertRow
          key={alert.id}
          row={(element) => {
            if (element === null) rows.current.delete(alert.id);
            else rows.current.set(alert.id, element);
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
    </>
  );
}
