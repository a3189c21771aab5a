import { Badge } from "../../../ui/badge.tsx";
import type { Change } from "./pattern-model.ts";

const LABELS: Readonly<Record<Change, string>> = { new: "New", risen: "Risen", fallen: "Fallen", gone: "Gone" };

/** How the count of a pattern has changed. */
export function ChangeBadge({ change }: { change: Change }) {
  const isMore = change === "new" || change === "risen";
  return <Badge {...(isMore ? { tone: "warn" } : {})}>{LABELS[change]}</Badge>;
}
