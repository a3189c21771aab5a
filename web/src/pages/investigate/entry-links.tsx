import { ChartGantt } from "lucide";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { LogEntry } from "../../model/types.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { traceLink } from "./links.ts";

/** Id of the workspace to whose pages entries are linked; `null`: to none. */
export const LinkedWorkspace = createContext<string | null>(null);

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
