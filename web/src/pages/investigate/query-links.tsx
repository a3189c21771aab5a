import { GitCompareArrows, Shapes } from "lucide";
import { buttonClass } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { View } from "../explorer/view/view.ts";
import { toolLink } from "./links.ts";
import css from "./query-links.module.css";

export const QUERY_LINKS = [
  { tool: "patterns", label: "Patterns", shape: Shapes },
  { tool: "compare", label: "Compare", shape: GitCompareArrows },
] as const;

interface QueryLinksProps {
  workspaceId: string;
  projectId: string | null;
  view: View;
}

/** Links of a query to the pages that show its entries in another way. */
export function QueryLinks({ workspaceId, projectId, view }: QueryLinksProps) {
  return QUERY_LINKS.map(({ tool, label, shape }) => (
    <a
      key={tool}
      class={`${buttonClass("quiet")} ${css.link}`}
      href={toolLink(workspaceId, projectId, tool, view)}
      aria-label={label}
      data-tooltip={label}
    >
      <Icon shape={shape} />
      <span class={css.word}>{label}</span>
    </a>
  ));
}
