import { GitCompareArrows, ScrollText, Shapes } from "lucide";
import { Icon, type IconShape } from "../../ui/icon.tsx";
import type { View } from "../explorer/view/view.ts";
import { type Tool, toolLink } from "./links.ts";
import css from "./query-pages.module.css";

/** Pages of a query. `null`: the explorer. */
export const QUERY_PAGES: readonly { tool: Tool | null; label: string; shape: IconShape }[] = [
  { tool: null, label: "Logs", shape: ScrollText },
  { tool: "patterns", label: "Patterns", shape: Shapes },
  { tool: "compare", label: "Compare", shape: GitCompareArrows },
];

interface QueryPagesProps {
  workspaceId: string;
  projectId: string | null;
  view: View;
  current: Tool | null;
}

/** Links between the pages that show the entries of a query, at the same place of each. */
export function QueryPages({ workspaceId, projectId, view, current }: QueryPagesProps) {
  return (
    <nav class={css.pages} aria-label="Pages of this query">
      {QUERY_PAGES.map(({ tool, label, shape }) => (
        <a
          key={label}
          class={css.page}
          href={toolLink(workspaceId, projectId, tool, view)}
          aria-label={label}
          aria-current={tool === current ? "page" : undefined}
          data-tooltip={label}
        >
          <Icon shape={shape} />
          <span class={css.word}>{label}</span>
        </a>
      ))}
    </nav>
  );
}
