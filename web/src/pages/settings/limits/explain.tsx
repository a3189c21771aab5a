import { useState } from "preact/hooks";
import type { LimitConfiguration } from "../../../../../src/limits/cascade.ts";
import { useLoad } from "../../../lib/load.ts";
import { loadProjects } from "../../../model/workspaces.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Field } from "../../../ui/field.tsx";
import { Card } from "../../../ui/page.tsx";
import { Select } from "../../../ui/select.tsx";
import { isSame } from "./draft.ts";
import { type Explanation, explain, type Level } from "./explanation.ts";
import css from "./limits.module.css";
import { type ApiRoute, parametersOf, pathOf, ROUTES } from "./routes.ts";
import { limitInWords } from "./words.ts";

const TITLES: Record<Level["kind"], (method: string) => string> = {
  method: (method) => `Rule for ${method} and this path`,
  "any-method": () => "Rule for any method (*) and this path",
  default: () => "Workspace default",
  preset: () => "Preset",
};

interface ExplainProps {
  workspaceId: string;
  /** The configuration in force. */
  current: LimitConfiguration;
  /** The configuration to explain: the draft. */
  configuration: LimitConfiguration;
}

const REQUESTS = ROUTES.map(({ method, pattern, what }, index) => ({
  value: String(index),
  label: `${method} ${pattern} (${what})`,
}));

/** Explains which limit applies to a request. */
export function Explain({ workspaceId, current, configuration }: ExplainProps) {
  const [chosen, setChosen] = useState(0);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({ workspaceId });
  const { data: projects } = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  const route = ROUTES[chosen] ?? ROUTES[0];
  if (!route) return null;
  const filled: Readonly<Record<string, string>> = { projectId: projects?.[0]?.id ?? "", ...values };
  const path = pathOf(route.pattern, filled);
  const explanation = explain(configuration, { method: route.method, pattern: route.pattern, path });
  return (
    <Card title="Which limit applies?">
      <p>
        Select a request to see its limit
        {isSame(current, configuration) ? "." : ", including the unsaved changes."}
      </p>
      <div class={css.request}>
        <Field label="Request">
          {(props) => (
            <Select
              {...props}
              value={String(chosen)}
              options={REQUESTS}
              onChange={(index) => setChosen(Number(index))}
            />
          )}
        </Field>
        {parametersOf(route.pattern).map((name) => (
          <Field key={name} label={labelOf(name)}>
            {(props) => (
              <input
                {...props}
                class={css.parameter}
                list={name === "projectId" ? "explain-projects" : undefined}
                value={filled[name] ?? ""}
                spellcheck={false}
                autocapitalize="off"
                placeholder="any"
                onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
              />
            )}
          </Field>
        ))}
        <datalist id="explain-projects">
          {projects?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </datalist>
      </div>
      <div class={css.verdict} role="status">
        <p>
          <code>
            {route.method} {path}
          </code>
        </p>
        <p>
          <strong>{verdictOf(explanation)}</strong> {exceptionOf(explanation)}
        </p>
      </div>
      <Levels route={route} explanation={explanation} />
    </Card>
  );
}

function Levels({ route, explanation }: { route: ApiRoute; explanation: Explanation }) {
  return (
    <>
      <p>The first limit that is set applies. A rule for an exact path comes before a rule for its pattern.</p>
      <ol class={css.levels}>
        {explanation.levels.map(({ kind, limit, applies }) => (
          <li key={kind} data-applies={applies}>
            <span class={css.level}>
              {TITLES[kind](route.method)}
              {applies ? <Badge tone="good">applies</Badge> : null}
            </span>
            <span class={css.set}>
              {limit === null ? "not set" : limitInWords(limit)}
              {limit !== null && (kind === "method" || kind === "any-method") ? (
                <>
                  {" by "}
                  <code>{limit.rule}</code>
                </>
              ) : null}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

function verdictOf({ applied }: Explanation): string {
  const source =
    applied.rule === "default"
      ? "the workspace default"
      : applied.rule === "API_DEFAULT"
        ? "the preset"
        : `the rule ${applied.rule}`;
  return `Limited by ${source}: ${limitInWords(applied)}.`;
}

function exceptionOf({ exception }: Explanation): string {
  if (exception === "settings") {
    return "Always applies to the settings of limits, so that you cannot lock yourself out.";
  }
  return exception === "outside" ? "Belongs to no workspace, counted per user." : "";
}

/** Label of a parameter, for example "Project id" for `projectId`. */
function labelOf(parameter: string): string {
  const words = parameter.replace(/Id$/, " id");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
