import { useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { Row } from "../../ui/page.tsx";
import { StackedBars } from "../../ui/stacked-bars.tsx";
import { seriesByLevel, seriesByProject, type UsageDays } from "./days.ts";

const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });

export function dayName(day: string): string {
  return DAY.format(Date.parse(day));
}

/** Entries a day, split by project or by level. */
export function DaysChart({ usage }: { usage: UsageDays }) {
  const [by, setBy] = useState<"project" | "level">("project");
  const { days } = usage;
  const names = days.map(dayName);
  return (
    <>
      <Row>
        {(["project", "level"] as const).map((each) => (
          <Button
            key={each}
            small
            look={each === by ? "plain" : "quiet"}
            aria-pressed={each === by}
            onClick={() => setBy(each)}
          >
            {each === "project" ? "By project" : "By level"}
          </Button>
        ))}
      </Row>
      <StackedBars
        label={`Entries a day by ${by}, ${names[0]} to ${names.at(-1)}`}
        series={by === "project" ? seriesByProject(usage) : seriesByLevel(usage)}
        names={names}
        ends={[names[0] ?? "", "today"]}
      />
      {usage.complete ? null : <p>The earliest days are missing: counting them takes more than one request may.</p>}
    </>
  );
}
