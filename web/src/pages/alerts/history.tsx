import { groupText } from "../../../../src/alerts/template.ts";
import type { Pages } from "../../lib/pages.ts";
import { visible } from "../../lib/visible.ts";
import type { Alert, Decision } from "../../model/alerts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { ShowOlder } from "../../ui/show-older.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { number } from "../explorer/view/format.ts";
import { decisionLink } from "./alert-query.ts";
import css from "./alerts.module.css";
import { valueText } from "./words.ts";

interface HistoryProps {
  workspaceId: string;
  alert: Alert;
  decisions: Pages<Decision>;
}

/** What an alert decided in the last 30 days, newest first. */
export function History({ workspaceId, alert, decisions }: HistoryProps) {
  const { items, busy, failure, reload, more } = decisions;
  return (
    <Card title="History">
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {items === null && failure === null ? <Loading /> : null}
      {items?.length === 0 && more === null ? (
        <Empty title="Nothing decided">
          <p>Firings and recoveries of the last 30 days are listed here.</p>
        </Empty>
      ) : null}
      {items !== null && items.length > 0 ? (
        <ScrollBox label="Decisions, newest first" isStacked>
          <table>
            <thead>
              <tr>
                <th scope="col">Window until</th>
                <th scope="col">Decision</th>
                <th scope="col">Group</th>
                <th scope="col" data-number="true">
                  Value
                </th>
                <th scope="col">Entries</th>
                <th scope="col">Version</th>
              </tr>
            </thead>
            <tbody>
              {items.map((decision) => (
                <tr key={decision.id}>
                  <td data-label="Window until" class={css.moment}>
                    <Time at={decision.at} />
                  </td>
                  <td data-label="Decision">
                    <Badge tone={decision.kind === "firing" ? "bad" : "good"}>
                      {decision.kind === "firing" ? "Fired" : "Recovered"}
                    </Badge>{" "}
                    <Notes decision={decision} />
                  </td>
                  <td data-label="Group">
                    <span class={css.group}>{visible(groupText(decision))}</span>
                  </td>
                  <td data-label="Value" data-number="true">
                    {valueText(decision, alert.condition)}
                  </td>
                  <td data-label="Entries">
                    <Entries workspaceId={workspaceId} alert={alert} decision={decision} />
                  </td>
                  <td data-label="Version">{decision.version}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      ) : null}
      <ShowOlder more={more} />
      <Row>
        <Button busy={busy} onClick={reload}>
          Refresh
        </Button>
        <a href={`/w/${workspaceId}/settings/notifications`}>Notifications</a>
      </Row>
    </Card>
  );
}

/** What is special about a decision. */
function Notes({ decision: { reported, late, ended } }: { decision: Decision }) {
  return (
    <>
      {reported ? null : <Badge>Muted</Badge>}
      {late ? <Badge>After a mute</Badge> : null}
      {ended ? <Badge>Alert changed</Badge> : null}
    </>
  );
}

interface EntriesProps {
  workspaceId: string;
  alert: Alert;
  decision: Decision;
}

/** The link to exactly the entries that decided, named by their range of `seq`. */
function Entries({ workspaceId, alert, decision }: EntriesProps) {
  const { seqRange, version } = decision;
  const link = decisionLink(workspaceId, alert.projectId, decision, version === alert.version ? alert : null);
  const text = seqRange === null ? null : `${number(seqRange.from)} – ${number(seqRange.to)}`;
  // A recovery may be decided from a window without entries.
  return link === null ? (text ?? "None") : <a href={link}>{text ?? "Empty window"}</a>;
}
