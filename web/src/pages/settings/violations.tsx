import { useState } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import type { Page, Violation, Workspace } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { useNames } from "./caller-names.ts";
import { ruleInWords } from "./limits/words.ts";
import { Section } from "./section.tsx";

const COUNT = new Intl.NumberFormat();
const PAGE_SIZE = 50;

export function Violations({ workspace }: { workspace: Workspace }) {
  const [older, setOlder] = useState<readonly Page<Violation>[]>([]);
  const pageAt = async (cursor: string | null, signal?: AbortSignal): Promise<Page<Violation>> => {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(cursor === null ? {} : { cursor }) });
    const path = `/workspaces/${workspace.id}/violations?${query}`;
    return (await authorized<Page<Violation>>(path, signal ? { signal } : {})).data;
  };
  const first = useLoad(workspace.id, (signal) => {
    setOlder([]);
    return pageAt(null, signal);
  });
  const pages = first.data === null ? [] : [first.data, ...older];
  const items = pages.flatMap((page) => page.items);
  const next = pages.at(-1)?.nextCursor ?? null;
  const more = useAction(async () => {
    const page = await pageAt(next);
    setOlder((before) => [...before, page]);
  });
  const name = useNames(
    workspace.id,
    items.map(({ identifier }) => identifier),
  );
  return (
    <Section
      title="Violations"
      intro={
        <>
          Requests refused by a <a href={`/w/${workspace.id}/settings/limits`}>limit</a>, by caller, rule and minute.
          They appear within seconds and are kept for 30 days.
        </>
      }
      actions={
        <Button busy={first.busy} onClick={first.reload}>
          Refresh
        </Button>
      }
    >
      {first.failure ? <Failure failure={first.failure} onRetry={first.reload} /> : null}
      {first.data === null ? (
        first.failure ? null : (
          <Loading />
        )
      ) : items.length === 0 ? (
        <Empty title="No violations">
          <p>No request exceeded a limit in the last 30 days.</p>
        </Empty>
      ) : (
        <Card>
          <ScrollBox label="Violations, newest first">
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
          {more.failure ? <Failure failure={more.failure} onRetry={() => void more.run()} isRepeated={false} /> : null}
          {next === null ? null : (
            <Row>
              <Button busy={more.busy} onClick={() => void more.run()}>
                Show older
              </Button>
            </Row>
          )}
        </Card>
      )}
    </Section>
  );
}
