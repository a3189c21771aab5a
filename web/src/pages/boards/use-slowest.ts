import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { SLOWEST_QUERIES } from "../../../../src/workspace/panels.ts";
import type { Loaded } from "../../lib/load.ts";
import type { Board, Panel } from "../../model/boards.ts";
import { authorized } from "../../session/session.ts";
import { type FieldFacts, fieldsOf, type TableAnswer } from "../explorer/fields/field-facts.ts";
import type { Times } from "../explorer/view/range.ts";
import { noteFields } from "../investigate/releases/version-fields.ts";
import { durationFields, pathField, type Slowest, slowestQuery } from "./slowest.ts";
import { type Answers, type Further, type PanelAnswer, useAnswers } from "./use-answers.ts";

/** Durations beside which a path is looked for. */
const TRIED = 3;
/** Values of a field that are loaded. None is shown. */
const VALUES = 1;

export interface ShownAnswers extends Loaded<Answers> {
  /** The panels of the board with the queries that are asked. */
  panels: readonly Panel[];
  /** The answer to a panel's query; `undefined` until the last of its queries is answered. */
  answerOf: (panel: Panel) => PanelAnswer | undefined;
  /** What a reader of a panel must know about it; `null` for most. */
  noteOf: (panel: Panel) => string | null;
  /** Whether the fields of the slowest paths are looked for. */
  isSearching: boolean;
}

/** The fields that were found, by workspace and project: a board that is opened again asks for them at once. */
const lastFound = new Map<string, Slowest>();

const isSlowest = ({ query }: Panel): boolean => SLOWEST_QUERIES.includes(query);

/**
 * Loads the answers of a board. If its panel *Slowest paths* is as the service made it and no entry has the fields of its query,
 * the panel gets the fields that the entries of the range have.
 * @param range of the board: one in which no fields were found is not searched again with each refresh
 * @param further queries of the same request
 */
export function useBoardAnswers(
  workspaceId: string,
  board: Board,
  times: Times,
  round: number,
  range: string,
  further: (now: number) => Further[],
): ShownAnswers {
  const scopeKey = `${workspaceId} ${board.projectId}`;
  const [found, setFound] = useState<Slowest | null>(() => lastFound.get(scopeKey) ?? null);
  const [nothingIn, setNothingIn] = useState<string | null>(null);
  /** The answers after which the search for fields has ended. */
  const [searchedFor, setSearchedFor] = useState<Answers | null>(null);
  const panels = useMemo(
    () => board.panels.map((panel) => (found !== null && isSlowest(panel) ? { ...panel, query: found.query } : panel)),
    [board.panels, found],
  );
  const answers = useAnswers(workspaceId, { ...board, panels: [...panels] }, times, round, further);
  const searched = useRef<Answers | null>(null);
  const id = board.panels.find(isSlowest)?.id;
  const isEmpty = id !== undefined && hasNoPath(answers.data?.of.get(id));
  useEffect(() => {
    if (!isEmpty || nothingIn === range || searched.current === answers.data) return;
    searched.current = answers.data;
    const controller = new AbortController();
    const { from, to } = times;
    const { projectId } = board;
    const scope = {
      ...(projectId === null ? {} : { projectId }),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    };
    const ask = async (query: string): Promise<TableAnswer> => {
      const request = { workspaceId, body: { query, ...scope }, signal: controller.signal };
      return (await authorized<TableAnswer>("/logger/search", request)).data;
    };
    const ofAll = async (): Promise<readonly FieldFacts[]> => {
      const { fields } = fieldsOf(await ask(`* | facets ${VALUES}`));
      noteFields({ workspaceId, projectId }, fields);
      return fields;
    };
    findSlowest(ask, ofAll).then(
      (next) => {
        if (controller.signal.aborted) return;
        setFound((before) => (before?.query === next?.query ? before : next));
        if (next !== null) lastFound.set(scopeKey, next);
        setNothingIn(next === null ? range : null);
        setSearchedFor(answers.data);
      },
      // The panel stays empty until the next refresh.
      () => {
        if (!controller.signal.aborted) setSearchedFor(answers.data);
      },
    );
    return () => controller.abort();
  }, [answers.data, range]);
  const noteOf = (panel: Panel): string | null => {
    if (panel.id !== id) return null;
    if (isEmpty) return nothingIn === range ? "No entry has both a numeric duration and a path or route." : null;
    return found === null ? null : `p95 of ${found.duration} by ${found.path}`;
  };
  const isSearching = isEmpty && nothingIn !== range && searchedFor !== answers.data;
  const answerOf = ({ id: panelId, query }: Panel): PanelAnswer | undefined => {
    if (panelId === id && isSearching) return undefined;
    return answers.data?.asked.get(panelId) === query ? answers.data.of.get(panelId) : undefined;
  };
  return { ...answers, panels, answerOf, noteOf, isSearching };
}

/** Whether an answer has no path: no row, or that of the entries without one. */
function hasNoPath(answer: PanelAnswer | undefined): boolean {
  return answer?.ok === true && answer.kind === "table" && answer.rows.every(([path]) => path === null);
}

/**
 * Looks for a duration, and for a path beside it; `null` if no entry has both.
 * @param ofAll loads the fields of all entries
 */
async function findSlowest(
  ask: (query: string) => Promise<TableAnswer>,
  ofAll: () => Promise<readonly FieldFacts[]>,
): Promise<Slowest | null> {
  const durations = durationFields(await ofAll());
  for (const duration of durations.slice(0, TRIED)) {
    const path = pathField(fieldsOf(await ask(`${duration.name}:* | facets ${VALUES}`)).fields);
    if (path !== null) return { query: slowestQuery(duration, path), duration: duration.name, path };
  }
  return null;
}
