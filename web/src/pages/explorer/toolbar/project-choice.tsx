import { Box } from "lucide";
import { useLocation } from "preact-iso";
import type { Project } from "../../../model/types.ts";
import { Select } from "../../../ui/select.tsx";
import css from "./toolbar.module.css";

interface ProjectChoiceProps {
  workspaceId: string;
  projectId: string | null;
  /** `null` until loaded. */
  projects: readonly Project[] | null;
  /** The query string to show the selected project with. */
  search: string;
}

export function ProjectChoice({ workspaceId, projectId, projects, search }: ProjectChoiceProps) {
  const { route } = useLocation();
  const isKnown = projectId === null || projects?.some(({ id }) => id === projectId);
  return (
    <span class={css.project}>
      <Select
        label="Project"
        icon={Box}
        value={projectId ?? ""}
        options={[
          { value: "", label: "All projects" },
          ...(isKnown ? [] : [{ value: projectId ?? "", label: projectId ?? "" }]),
          ...(projects?.map(({ id, name }) => ({ value: id, label: name })) ?? []),
        ]}
        onChange={(id) => route(`/w/${workspaceId}${id === "" ? "" : `/p/${id}`}${search}`)}
      />
    </span>
  );
}
