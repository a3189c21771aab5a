import { useLoad } from "../../lib/load.ts";
import { visible } from "../../lib/visible.ts";
import { type Alert, type AlertDefinition, loadVersions } from "../../model/alerts.ts";
import type { Member } from "../../model/types.ts";
import { allOf } from "../../model/workspaces.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import css from "./alerts.module.css";
import { memberText } from "./definition-words.ts";
import { differences } from "./version-difference.ts";

interface VersionsProps {
  workspaceId: string;
  alert: Alert;
  nameOf: (destinationId: string) => string;
  mayChange: boolean;
}

/** The versions of an alert, newest first, each with what it changed. */
export function Versions({ workspaceId, alert, nameOf, mayChange }: VersionsProps) {
  const { id, version } = alert;
  const { data, failure, reload } = useLoad(`${id} ${version}`, (signal) => loadVersions(workspaceId, alert, signal));
  const members = useLoad(workspaceId, (signal) =>
    allOf<Member>(`/workspaces/${workspaceId}/members`, undefined, signal),
  );
  const authorOf = (author: string) => members.data?.find(({ userId }) => userId === author)?.email ?? null;
  const here = `/w/${workspaceId}/alerts/${alert.projectId}/${id}`;
  const write = (member: keyof AlertDefinition, definition: AlertDefinition) => memberText(member, definition, nameOf);
  return (
    <Card title="Versions">
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data === null && failure === null ? <Loading /> : null}
      {data === null ? null : (
        <Items label="Versions, newest first">
          {data.map((each, at) => (
            <Item
              key={each.version}
              title={`Version ${each.version}`}
              facts={[
                ["Saved", <Time key="at" at={each.createdAt} />],
                // API keys and former members have no address here.
                ["By", authorOf(each.createdBy) ?? <code key="by">{each.createdBy}</code>],
              ]}
              actions={
                mayChange && each.version !== version ? (
                  <a class={buttonClass("plain", true)} href={`${here}/edit?version=${each.version}`}>
                    Edit from here<span class="visually-hidden">, version {each.version}</span>
                  </a>
                ) : null
              }
            >
              <ul class={css.changes}>
                {differences(data[at + 1] ?? null, each, write).map(({ member, before, after }) => (
                  <li key={member}>
                    {member}: {before === null ? null : <del>- {visible(before)}</del>}{" "}
                    {after === null ? null : <ins>+ {visible(after)}</ins>}
                  </li>
                ))}
              </ul>
            </Item>
          ))}
        </Items>
      )}
    </Card>
  );
}
