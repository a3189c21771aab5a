import { Ban, ChartLine, CircleCheck, CircleOff, Columns3, ListOrdered, Minus, Plus } from "lucide";
import { visible } from "../../../lib/visible.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Icon } from "../../../ui/icon.tsx";
import type { Scalar } from "../filters.ts";
import { type Column, withColumn } from "../view/columns.ts";
import { number, short } from "../view/format.ts";
import { fieldNamed, stateOf, tests, toggled, withoutField, withPipes, withTests } from "../view/query-terms.ts";
import { Distribution } from "./distribution.tsx";
import { type FieldFacts, isScalar, TOP_VALUES, type ValueCount } from "./field-facts.ts";
import { chartPipes, whyUnlisted } from "./field-groups.ts";
import css from "./field-item.module.css";
import { type CountRound, type SearchScope, tableOf, useCounted } from "./use-fields.ts";

/** Signs of the types, as wide as three letters. */
const SIGNS: Readonly<Record<string, string>> = { string: "abc", number: "123", boolean: "y/n", null: "nil" };

export interface FieldActs {
  /** The query with its pipes. */
  query: string;
  onQuery: (query: string) => void;
  columns: readonly Column[];
  onColumns: (columns: readonly Column[]) => void;
}

interface FieldItemProps extends FieldActs {
  field: FieldFacts;
  /** Entries of the query. */
  matched: number;
  isOpen: boolean;
  onToggle: () => void;
  scope: SearchScope;
  /** The filter of the query, without pipes. */
  filter: string;
  round: CountRound;
}

export function FieldItem({ field, isOpen, onToggle, ...rest }: FieldItemProps) {
  const { name, type } = field;
  const { scope, filter, round } = rest;
  // Of a field that the query tests, also the values that its test excludes, so that they can be added.
  const isWider = isOpen && field.values.length > 0 && tests(filter, name);
  const wider = isWider ? `${withoutField(filter, name) || "*"} | top ${TOP_VALUES} by ${name}` : "";
  const counted = useCounted(scope, round, wider, async (signal) => {
    return valuesOf((await tableOf(scope, wider, signal)).rows);
  });
  // What the query before counted stays while it waits.
  const wide = isOpen ? counted.data : null;
  const listed: Listed = {
    values: wide ?? field.values,
    isWider: wide !== null,
    isStale: counted.isStale && counted.failure === null,
    busy: isWider && counted.busy,
  };
  const { values } = listed;
  const isUnlisted = field.values.length === 0;
  return (
    <li class={css.field} data-open={isOpen}>
      <button type="button" class={css.name} aria-expanded={isOpen} onClick={onToggle}>
        <span class={css.sign} aria-hidden="true">
          {SIGNS[type] ?? "any"}
        </span>
        <span class={css.label}>{visible(name)}</span>
        <span class={css.distinct}>
          {isUnlisted ? "–" : values.length >= TOP_VALUES ? `${TOP_VALUES}+` : values.length}
          <span class="visually-hidden">{isUnlisted ? " without a list of values" : " values"}</span>
        </span>
      </button>
      {isOpen ? <OpenField field={field} listed={listed} {...rest} /> : null}
    </li>
  );
}

/** The values that are listed. */
interface Listed {
  values: readonly ValueCount[];
  /** Whether they are counted without the test of their field. */
  isWider: boolean;
  /** Whether they are those of the query before. */
  isStale: boolean;
  busy: boolean;
}

type OpenFieldProps = Omit<FieldItemProps, "isOpen" | "onToggle"> & { listed: Listed };

function OpenField({ field, listed, ...rest }: OpenFieldProps) {
  const { query, onQuery, columns, onColumns, scope, filter, round } = rest;
  const { name, type } = field;
  const unlisted = whyUnlisted(field);
  const test = (isNegated: boolean): void => {
    const exists = { kind: "field" as const, field: fieldNamed(name), test: { kind: "exists" as const } };
    onQuery(withTests(query || "*", [isNegated ? { kind: "not", filter: exists } : exists]));
  };
  return (
    <div class={css.open}>
      {type === "number" ? (
        <Distribution
          field={name}
          isMany={field.values.length >= TOP_VALUES}
          filter={filter}
          scope={scope}
          round={round}
          onFrom={(value) => {
            const from = {
              kind: "compare" as const,
              operator: ">=" as const,
              value: { kind: "number" as const, value },
            };
            onQuery(withTests(query || "*", [{ kind: "field", field: fieldNamed(name), test: from }]));
          }}
        />
      ) : null}
      {unlisted === null ? (
        <Values name={name} {...listed} query={query} onQuery={onQuery} />
      ) : (
        <p class={css.note}>{unlisted}</p>
      )}
      <div class={css.acts}>
        {unlisted === null ? (
          <>
            <IconButton
              icon={ListOrdered}
              small
              look="quiet"
              label={`Group by ${name}`}
              onClick={() => onQuery(withPipes(query, `| top 10 by ${name}`))}
            />
            <Button
              icon={ChartLine}
              small
              look="quiet"
              aria-label={`Chart ${name}`}
              onClick={() => onQuery(withPipes(query, chartPipes(name, type, scope.times)))}
            >
              Chart
            </Button>
          </>
        ) : null}
        <IconButton
          icon={Columns3}
          small
          look="quiet"
          label={columns.some(({ field }) => field === name) ? `Remove column ${name}` : `Add column ${name}`}
          onClick={() => onColumns(withColumn(columns, name))}
        />
        <IconButton icon={CircleCheck} small look="quiet" label={`Has ${name}`} onClick={() => test(false)} />
        <IconButton icon={CircleOff} small look="quiet" label={`Lacks ${name}`} onClick={() => test(true)} />
      </div>
    </div>
  );
}

/** The most frequent values. */
function Values({ name, values, isWider, isStale, busy, query, onQuery }: ValuesProps) {
  const most = values.reduce((highest, { count }) => Math.max(highest, count), 1);
  return (
    <>
      <ul class={css.values} aria-label={`Values of ${name}`} aria-busy={busy} data-stale={isStale || undefined}>
        {values.map(({ value, count }) => (
          <Value
            key={`${typeof value} ${value}`}
            value={value}
            count={count}
            share={count / most}
            state={stateOf(query, name, value)}
            level={name === "level" ? String(value) : undefined}
            onToggle={(as) => onQuery(toggled(query || "*", name, value, as))}
          />
        ))}
      </ul>
      {isWider ? <p class={css.note}>{isStale ? "Counting …" : "Counts without this filter"}</p> : null}
    </>
  );
}

type ValuesProps = Listed & Pick<FieldActs, "query" | "onQuery"> & { name: string };

interface ValueProps extends ValueCount {
  share: number;
  state: "included" | "excluded" | null;
  level: string | undefined;
  onToggle: (as: "included" | "excluded") => void;
}

function Value({ value, count, share, state, level, onToggle }: ValueProps) {
  const text = visible(String(value)) || '""';
  return (
    <li class={css.value} data-state={state ?? undefined} data-level={level}>
      <button
        type="button"
        class={css.pick}
        aria-pressed={state === "included"}
        title={`${text}: ${number(count)}`}
        onClick={() => onToggle("included")}
      >
        <span class={css.mark} aria-hidden="true">
          {state === "included" ? <Icon shape={Plus} size={12} /> : null}
          {state === "excluded" ? <Icon shape={Minus} size={12} /> : null}
        </span>
        <span class={css.text}>{text}</span>
        <span class={css.bar} aria-hidden="true">
          <span style={{ width: share === 0 ? 0 : `max(1px, ${share * 100}%)` }} />
        </span>
        <span class={css.count}>{short(count)}</span>
      </button>
      <button
        type="button"
        class={css.exclude}
        aria-pressed={state === "excluded"}
        aria-label={`Exclude ${text}`}
        data-tooltip="Exclude"
        onClick={() => onToggle("excluded")}
      >
        <Icon shape={Ban} size={12} />
      </button>
    </li>
  );
}

function valuesOf(rows: readonly unknown[][]): ValueCount[] {
  return rows.flatMap(([value, count]) => {
    const isValue = isScalar(value) && value !== null && typeof count === "number";
    return isValue ? [{ value: value satisfies Scalar, count }] : [];
  });
}
