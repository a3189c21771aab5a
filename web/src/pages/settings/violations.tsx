import { usePages } from "../../lib/pages.ts";
import type { Violation, Workspace } from "../../model/types.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { ShowOlder } from "../../ui/show-older.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { useNames } from "./caller-names.ts";
import { ruleInWords } from "./limits/words.ts";
import { Section } from "./section.tsx";

const COUNT = new Intl.NumberFormat();
const PAGE_SIZE = 50;

export function Violations({ workspace }: { workspace: Workspace }) {
  const { items, busy, failure, reload, more } = usePages<Violation>(
    workspace.id,
    PAGE_SIZE,
    (query) => `/workspaces/${workspace.id}/violations?${query}`,
  );
  const name = useNames(
    workspace.id,
    (items ?? []).map(({ identifier }) => identifier),
  );
  return (
    <Section
      title="Refused requests"
      intro={
        <>
          Requests beyond a <a href={`/w/${workspace.id}/settings/limits`}>limit</a>, counted by caller and minute. They
          appear within seconds and are listed for 30 days.
        </>
      }
      actions={
        <Button busy={busy} onClick={reload}>
          Refresh
        </Button>
      }
    >
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {items === null ? (
        failure ? null : (
          <Loading />
        )
      ) : items.length === 0 ? (
        <Empty title="No refused requests">
          <p>No request exceeded a limit in the last 30 days.</p>
        </Empty>
      ) : (
        <Card>
          <ScrollBox label="Refused requests, newest first">
            <table>
              <thead>
                <tr>
                  <th scope="col">Caller</th>
                  <th scope="col">Refused</th>
                  <th scope="col">Limit</th>
                  <th scope="col">First</th>
                  <th scope="col">Last</th>
                </tr>
              </thead>
              <tbody>
                {items.map((item) => (
                  <tr key={`${item.identifier} ${item.rule} ${item.firstAt}`}>
                    <td>{name(item.identifier)}</td>
                    <td>{COUNT.format(item.count)}</td>
                    <td>
                      {COUNT.format(item.limit)} in {item.windowSeconds} s
                      <br />
                      {ruleInWords(item.rule)}
                    </td>
                    <td>
                      <Time at={item.firstAt} />
                    </td>
                    <td>
                      <Time at={item.lastAt} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollBox>
          <ShowOlder more={more} />
        </Card>
      )}
    </Section>
  );
}
