import { useMemo } from "preact/hooks";
import { BUILT_IN_CATEGORIES, CATEGORY_TYPES } from "../../../../../src/logs/entry.ts";
import type { LogEntry } from "../../../model/types.ts";
import { pathsIn } from "../view/data-paths.ts";
import type { ViewFilters } from "../view/view.ts";
import { without } from "../view/view.ts";
import { DataFilter } from "./data-filter.tsx";
import css from "./filter-panel.module.css";
import { LevelFilter } from "./level-filter.tsx";
import { NamesFilter } from "./names-filter.tsx";
import { TextFilter } from "./text-filter.tsx";
import type { SeenNames } from "./use-names.ts";

const CATEGORIES = [...BUILT_IN_CATEGORIES, "custom"];
const TYPES = new Map<string, readonly string[]>(Object.entries(CATEGORY_TYPES));

interface FilterPanelProps {
  id: string;
  filters: ViewFilters;
  onChange: (change: (filters: ViewFilters) => ViewFilters) => void;
  categories: SeenNames;
  types: SeenNames;
  /** `null` if no entry has one. */
  services: SeenNames | null;
  hosts: SeenNames | null;
  /** Loaded entries, from which paths and values are suggested. */
  entries: readonly LogEntry[];
}

/** Controls for every filter of the API except search and time, which the toolbar has. */
export function FilterPanel({ id, filters, onChange, categories, types, services, hosts, entries }: FilterPanelProps) {
  const paths = useMemo(() => pathsIn(entries), [entries]);
  const { level, minLevel, category, type, service, host, session, traceId, data } = filters;
  const builtInTypes = (category ?? BUILT_IN_CATEGORIES).flatMap((name) => TYPES.get(name) ?? []);
  const put = (name: keyof ViewFilters, value: ViewFilters[keyof ViewFilters]): void => {
    const isEmpty = value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
    onChange((before) => (isEmpty ? without(before, name) : { ...before, [name]: value }));
  };
  return (
    <div class={css.panel} id={id}>
      <LevelFilter
        levels={level ?? []}
        minLevel={minLevel ?? null}
        onLevels={(levels) => put("level", levels)}
        onMinLevel={(level) => put("minLevel", level ?? undefined)}
      />
      <NamesFilter
        label="Category"
        plural="categories"
        chosen={category ?? []}
        names={categories}
        known={CATEGORIES}
        onChange={(names) => put("category", names)}
      />
      <NamesFilter
        label="Type"
        plural="types"
        chosen={type ?? []}
        names={types}
        known={[...new Set(builtInTypes)]}
        onChange={(names) => put("type", names)}
      />
      {services === null ? null : (
        <NamesFilter
          label="Service"
          plural="services"
          chosen={service ?? []}
          names={services}
          known={[]}
          maxLength={256}
          onChange={(names) => put("service", names)}
        />
      )}
      {hosts === null ? null : (
        <NamesFilter
          label="Host"
          plural="hosts"
          chosen={host ?? []}
          names={hosts}
          known={[]}
          maxLength={256}
          onChange={(names) => put("host", names)}
        />
      )}
      <TextFilter label="Session" value={session ?? ""} onChange={(text) => put("session", text)} />
      <TextFilter label="Trace ID" value={traceId ?? ""} onChange={(text) => put("traceId", text)} />
      <DataFilter data={data} paths={paths} onChange={(next) => put("data", next)} />
    </div>
  );
}
