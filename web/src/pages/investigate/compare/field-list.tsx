import { useState } from "preact/hooks";
import { visible } from "../../../lib/visible.ts";
import { Button } from "../../../ui/button.tsx";
import { valueTest, withTest } from "../added-test.ts";
import { toolLink } from "../links.ts";
import type { Investigation } from "../use-investigation.ts";
import css from "./compare.module.css";
import type { FieldDifference, ValueDifference } from "./field-differences.ts";
import { ShareBars } from "./share-bars.tsx";
import { spanView, type TimeSpan } from "./spans-of-time.ts";
import { LEAST } from "./use-comparison.ts";

/** Fields that are listed at first, values of each, and characters of a value. */
const FIELDS = 8;
const VALUES = 4;
const CHARACTERS = 120;

interface FieldListProps {
  investigation: Investigation;
  before: TimeSpan;
  now: TimeSpan;
  /** `null`: a range has too few entries. */
  fields: readonly FieldDifference[] | null;
}

/** Fields whose values differ between the ranges. */
export function FieldList({ fields, ...of }: FieldListProps) {
  const [isWhole, setWhole] = useState(false);
  if (fields === null) return <p class={css.none}>Too few entries to compare fields: each range needs {LEAST}.</p>;
  if (fields.length === 0) return <p class={css.none}>All differences are small enough to be chance.</p>;
  const shown = isWhole ? fields : fields.slice(0, FIELDS);
  return (
    <>
      <p class={css.hint}>
        Shares of all entries, the largest difference first. Differences small enough to be chance are left out.
      </p>
      <ol class={css.fields}>
        {shown.map((field) => (
          <li key={field.field}>
            <h3 class={css.field}>
              <code>{visible(field.field)}</code>
            </h3>
            <ul class={css.values}>
              {field.values.slice(0, VALUES).map((value) => (
                <li key={`${typeof value.value} ${value.value}`} class={css.value}>
                  <ValueLink field={field.field} value={value} {...of} />
                  <ShareBars before={value.beforeShare} now={value.nowShare} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
      {shown.length < fields.length ? (
        <div class={css.foot}>
          <Button small onClick={() => setWhole(true)}>
            Show all {fields.length}
          </Button>
        </div>
      ) : null}
    </>
  );
}

interface ValueLinkProps extends Omit<FieldListProps, "fields"> {
  field: string;
  value: ValueDifference;
}

/** A value, linked to the entries that have it, in the span that has more of them. */
function ValueLink({ investigation, before, now, field, value }: ValueLinkProps) {
  const { workspaceId, projectId, filter } = investigation;
  const text = value.value === undefined ? "any value" : String(value.value);
  const shown = visible(text.length > CHARACTERS ? `${text.slice(0, CHARACTERS)}…` : text) || "empty text";
  const test = valueTest(field, value.value);
  const isPresence = value.value === undefined;
  if (test === null) return <span class={css.valueText}>{shown}</span>;
  const span = value.nowShare >= value.beforeShare ? now : before;
  return (
    <a
      class={css.valueText}
      data-quiet={isPresence}
      href={toolLink(workspaceId, projectId, null, spanView(withTest(filter, test), span))}
    >
      {shown}
    </a>
  );
}
