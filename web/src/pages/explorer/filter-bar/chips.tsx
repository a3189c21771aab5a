import { X } from "lucide";
import { Button } from "../../../ui/button.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { testsOf, testText, withoutTest } from "../view/data-conditions.ts";
import { type ViewFilters, without } from "../view/view.ts";
import { visible } from "../view/visible.ts";
import css from "./chips.module.css";

interface Chip {
  text: string;
  /** Returns the filters without this one. */
  removed: (filters: ViewFilters) => ViewFilters;
}

/** Every active filter with a button to remove it. */
export function Chips({
  filters,
  onChange,
}: {
  filters: ViewFilters;
  onChange: (change: (filters: ViewFilters) => ViewFilters) => void;
}) {
  const chips = chipsOf(filters);
  if (chips.length === 0) return null;
  return (
    <ul class={css.chips} aria-label="Active filters">
      {chips.map(({ text, removed }) => (
        <li key={text} class={css.chip}>
          <span class={css.text}>{visible(text)}</span>
          <button
            type="button"
            class={css.remove}
            aria-label={`Remove filter: ${visible(text)}`}
            onClick={() => onChange(removed)}
          >
            <Icon shape={X} size={14} />
          </button>
        </li>
      ))}
      <li>
        <Button small look="quiet" onClick={() => onChange(() => ({}))}>
          Clear filters
        </Button>
      </li>
    </ul>
  );
}

function chipsOf(filters: ViewFilters): Chip[] {
  const { level, minLevel, category, type, service, host, session, traceId, search, data } = filters;
  return [
    ...(search ? [{ text: `contains “${search}”`, removed: drop("search") }] : []),
    ...(minLevel ? [{ text: `level at least ${minLevel}`, removed: drop("minLevel") }] : []),
    ...listChips("level", level),
    ...listChips("category", category),
    ...listChips("type", type),
    ...listChips("service", service),
    ...listChips("host", host),
    ...(session ? [{ text: `session ${session}`, removed: drop("session") }] : []),
    ...(traceId ? [{ text: `trace ${traceId}`, removed: drop("traceId") }] : []),
    ...testsOf(data).map((test) => ({
      text: testText(test),
      removed: (filters: ViewFilters): ViewFilters => {
        const left = withoutTest(filters.data, test);
        return left === undefined ? without(filters, "data") : { ...filters, data: left };
      },
    })),
  ];
}

function listChips(
  name: "level" | "category" | "type" | "service" | "host",
  values: readonly string[] | undefined,
): Chip[] {
  return (values ?? []).map((value) => ({
    text: `${name} ${value}`,
    removed: (filters) => {
      const left = filters[name]?.filter((each) => each !== value) ?? [];
      return left.length === 0 ? without(filters, name) : { ...filters, [name]: left };
    },
  }));
}

function drop(name: keyof ViewFilters): (filters: ViewFilters) => ViewFilters {
  return (filters) => without(filters, name);
}
