import { Download } from "lucide";
import { useState } from "preact/hooks";
import { useLoad } from "../../lib/load.ts";
import type { Workspace } from "../../model/types.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Select } from "../../ui/select.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { csvOf, totalsOf, type UsageDays } from "./days.ts";
import { DaysChart, dayName } from "./days-chart.tsx";
import { loadDays } from "./load-days.ts";

const COUNT = new Intl.NumberFormat();
/** The API counts at most this many days. */
const MAX_DAYS = 366;
/** Projects with a column of their own in the table. The file has all. */
const COLUMNS = 6;

/** Entries by project and day, with a table and a file. */
export function DaysCard({ workspace }: { workspace: Workspace }) {
  const [range, setRange] = useState("30");
  const ranges = [7, 30, 90, MAX_DAYS].filter((days, at) => at < 2 || days <= workspace.retentionDays + 1);
  const { data, failure, reload } = useLoad(`${workspace.id} ${range}`, (signal) =>
    loadDays(workspace.id, Number(range), signal),
  );
  return (
    <Card title="By project and day">
      <p>
        By the time of the entries, days in UTC. Entries past the retention of {workspace.retentionDays} days are gone.
      </p>
      <Row>
        <Field label="Range">
          {(props) => (
            <Select
              {...props}
              value={range}
              options={ranges.map((days) => ({ value: String(days), label: `${days} days` }))}
              onChange={setRange}
            />
          )}
        </Field>
        <Button
          icon={Download}
          disabled={data === null}
          onClick={() => data && saveFile(`usage-${workspace.slug}-${data.days[0]}.csv`, "text/csv", csvOf(data))}
        >
          Export CSV
        </Button>
      </Row>
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data === null ? failure ? null : <Loading what="Counting" /> : <Days usage={data} />}
    </Card>
  );
}

function Days({ usage }: { usage: UsageDays }) {
  const sorted = usage.projects.filter(({ entries }) => entries > 0).sort((a, b) => b.entries - a.entries);
  if (sorted.length === 0) return <Empty title="No entries in these days" />;
  const shown = sorted.slice(0, COLUMNS);
  const totals = totalsOf(usage);
  const rows = usage.days.map((day, at) => ({ day, total: totals[at] ?? 0 })).filter(({ total }) => total > 0);
  return (
    <>
      <DaysChart usage={usage} />
      <ScrollBox label="Entries by day and project, newest day first">
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col" data-number="true">
                All
              </th>
              {shown.map(({ projectId, name }) => (
                <th key={projectId} scope="col" data-number="true">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.toReversed().map(({ day, total }) => (
              <tr key={day}>
                <th scope="row">
                  <time dateTime={day}>{dayName(day)}</time>
                </th>
                <td data-number="true">{COUNT.format(total)}</td>
                {shown.map(({ projectId, days }) => (
                  <td key={projectId} data-number="true">
                    {COUNT.format(days.find((each) => each.day === day)?.entries ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
      {sorted.length > shown.length ? (
        <p>The other projects ({sorted.length - shown.length}) are in the file.</p>
      ) : null}
    </>
  );
}
