import { countsAgain, memberLines } from "../../../../../sdk/src/cli/alerts/difference.ts";
import type { NamedDestination, PlannedChange } from "../../../../../sdk/src/cli/alerts/rule.ts";
import { visible } from "../../../lib/visible.ts";
import type { Plan } from "../../../model/alerts.ts";
import { Badge } from "../../../ui/badge.tsx";
import alertsCss from "../alerts.module.css";
import css from "./file.module.css";

const WORDS = {
  create: { tone: "good", planned: "New", made: "Created" },
  change: { tone: "warn", planned: "Changes", made: "Changed" },
  delete: { tone: "bad", planned: "Deleted", made: "Deleted" },
} as const satisfies Record<PlannedChange["kind"], object>;

interface ShownPlanProps {
  plan: Plan;
  destinations: readonly NamedDestination[];
  isApplied: boolean;
}

/** What a file changes, alert by alert: the members that differ, as lines of a file. */
export function ShownPlan({ plan, destinations, isApplied }: ShownPlanProps) {
  return (
    <ul class={css.plan} aria-label={isApplied ? "Changes made" : "Changes"}>
      {plan.changes.map((change) => {
        const { kind, name, before, after } = change;
        const { tone, planned, made } = WORDS[kind];
        return (
          <li key={`${kind} ${name}`}>
            <p>
              <Badge tone={tone}>{isApplied ? made : planned}</Badge> <strong>{visible(name)}</strong>
              {countsAgain(change) ? <span class={alertsCss.hint}> counts again from the beginning</span> : null}
            </p>
            <ul class={alertsCss.changes}>
              {memberLines(before, after, destinations).map(([sign, text]) => (
                <li key={`${sign}${text}`}>
                  {sign === "+" ? <ins>+ {visible(text)}</ins> : <del>- {visible(text)}</del>}
                </li>
              ))}
            </ul>
          </li>
        );
      })}
    </ul>
  );
}

/** Sums a plan up, without kinds of changes that it lacks: `1 to create, 2 to change, 3 unchanged.` */
export function planText({ changes, unchanged, others }: Plan, isApplied: boolean): string {
  const sums = (["create", "change", "delete"] as const).flatMap((kind) => {
    const count = changes.filter((change) => change.kind === kind).length;
    return count === 0 ? [] : [isApplied ? `${count} ${kind}d` : `${count} to ${kind}`];
  });
  const kept = others.length === 0 ? "" : ` Not in the file: ${others.map(visible).join(", ")}.`;
  return `${[...(sums.length === 0 ? ["No changes"] : sums), `${unchanged} unchanged`].join(", ")}.${kept}`;
}
