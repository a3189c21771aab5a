import { ChartGantt } from "lucide";
import { useContext } from "preact/hooks";
import type { LogEntry } from "../../model/types.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { LinkedWorkspace } from "./linked-workspace.ts";
import { traceLink } from "./links.ts";
import { traceOf } from "./trace-ids.ts";

/** Links of an entry to the pages that show it among others. */
export function EntryLinks({ entry }: { entry: LogEntry }) {
  const workspaceId = useContext(LinkedWorkspace);
  const trace = traceOf(entry);
  if (workspaceId === null || trace === null) return null;
  return (
    <a class={buttonClass("plain", true)} href={traceLink(workspaceId, trace, entry.id)}>
      <Icon shape={ChartGantt} />
      Trace
    </a>
  );
}
