import { ChartGantt } from "lucide";
import { useContext } from "preact/hooks";
import type { LogEntry } from "../../model/types.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { LinkedWorkspace } from "./linked-workspace.ts";
import { traceLink } from "./links.ts";

/** Links of an entry to the pages that show it among others. */
export function EntryLinks({ entry: { id, traceId } }: { entry: LogEntry }) {
  const workspaceId = useContext(LinkedWorkspace);
  if (workspaceId === null || traceId === undefined) return null;
  return (
    <a class={buttonClass("plain", true)} href={traceLink(workspaceId, traceId, id)}>
      <Icon shape={ChartGantt} />
      Trace
    </a>
  );
}
