import { useRef } from "preact/hooks";
import type { FailureDetail } from "../../api/failure.ts";
import { type Loaded, useLoad } from "../../lib/load.ts";
import type { Board, Panel } from "../../model/boards.ts";
import { authorized } from "../../session/session.ts";
import type { SearchAnswer } from "../explorer/search/answer-view.tsx";
import type { Times } from "../explorer/view/range.ts";
import { BATCH, type BatchQuery, queryOf } from "./board-query.ts";

/** Why one query of a board has no answer. */
export interface PanelError {
  code: string;
  message: string;
  details: FailureDetail[];
}

export type PanelAnswer = (SearchAnswer & { ok: true; range: Bounds }) | { ok: false; error: PanelError };

interface Bounds {
  from: string | null;
  to: string | null;
}

interface BatchAnswer {
  asOf: string;
  answers: PanelAnswer[];
}

/** A query that the board asks beside those of its panels, about a span in epoch milliseconds. */
export interface Further {
  key: string;
  query: BatchQuery;
  start: number;
  end: number;
}

/** Answers to further queries, by their keys. */
export type FurtherAnswers = ReadonlyMap<string, { answer: PanelAnswer; start: number; end: number }>;

/** The answers of a board by panel, and when they were asked for. */
export interface Answers {
  of: ReadonlyMap<string, PanelAnswer>;
  /** The query of each panel that was asked. */
  asked: ReadonlyMap<string, string>;
  further: FurtherAnswers;
  /** The snapshot that was read. */
  asOf: string | null;
  /** Epoch milliseconds. */
  at: number;
}

/** Milliseconds for which a changed panel is asked for alone, on the snapshot of the others. */
const SAME_MS = 60_000;

/** The last answers, with the moment that they are of and what each panel asked. */
interface LastAnswers {
  board: string;
  moment: string;
  panels: ReadonlyMap<string, string>;
  answers: Answers;
}

/**
 * Loads the answers to all queries of a board with one request. A refresh, also with other times, keeps the answers until the
 * next ones are there. A panel that changes in between is asked for alone, on the same snapshot.
 * @param further queries of the same request at a moment; a change of them does not trigger a load
 */
export function useAnswers(
  workspaceId: string,
  board: Board,
  times: Times,
  round: number,
  further: (now: number) => Further[],
): Loaded<Answers> {
  const { projectId, panels } = board;
  const key = JSON.stringify([board.id, projectId, panels.map(({ id, query, range }) => [id, query, range]), round]);
  const moment = JSON.stringify([projectId, round, times.from, times.to]);
  const last = useRef<LastAnswers | null>(null);
  const loaded = useLoad(`${key} ${times.from} ${times.to}`, async (signal): Promise<Answers> => {
    const known = sameMoment(last.current, board.id, moment, Date.now());
    const now = known?.answers.at ?? Date.now();
    const isKnown = (panel: Panel): boolean => known !== null && known.panels.get(panel.id) === askedBy(panel);
    const changed = panels.filter((panel) => !isKnown(panel));
    const queries = changed.map((panel) => queryOf(panel, times, projectId, now));
    const others = further(now).filter(({ key }) => !known?.answers.further.has(key));
    const found = await askAll(workspaceId, queries, others, signal, known?.answers.asOf ?? null);
    const kept = panels.filter(isKnown).flatMap(({ id }) => {
      const answer = known?.answers.of.get(id);
      return answer === undefined ? [] : [[id, answer] as const];
    });
    const fresh = changed.flatMap(({ id }, at) => (found.answers[at] ? [[id, found.answers[at]] as const] : []));
    return {
      of: new Map([...kept, ...fresh]),
      asked: new Map(panels.map(({ id, query }) => [id, query])),
      further: new Map([...(known?.answers.further ?? []), ...found.further]),
      asOf: found.asOf,
      at: now,
    };
  });
  if (loaded.data !== null && loaded.data !== last.current?.answers) {
    const asked = panels.map((panel) => [panel.id, askedBy(panel)] as const);
    last.current = { board: board.id, moment, panels: new Map(asked), answers: loaded.data };
  }
  const kept = last.current?.board === board.id ? last.current.answers : null;
  return { ...loaded, data: loaded.data ?? kept };
}

function askedBy({ query, range }: Panel): string {
  return JSON.stringify([query, range]);
}

/** The last answers, if they are of the same board and moment, and recent. @param now epoch milliseconds */
function sameMoment(last: LastAnswers | null, board: string, moment: string, now: number): LastAnswers | null {
  return last?.board === board && last.moment === moment && now - last.answers.at < SAME_MS ? last : null;
}

/**
 * Asks for all queries on one snapshot: those of panels, then further ones. More than a batch holds need a second request.
 * @param asOf the snapshot; absent: the newest one
 */
export async function askAll(
  workspaceId: string,
  ofPanels: readonly BatchQuery[],
  further: readonly Further[],
  signal: AbortSignal,
  asOf: string | null = null,
): Promise<{ answers: PanelAnswer[] } & Pick<Answers, "further" | "asOf">> {
  const queries = [...ofPanels, ...further.map(({ query }) => query)];
  const answers: PanelAnswer[] = [];
  let snapshot = asOf;
  while (answers.length < queries.length) {
    const body: object = {
      queries: queries.slice(answers.length, answers.length + BATCH),
      ...(snapshot === null ? {} : { asOf: snapshot }),
    };
    const { data }: { data: BatchAnswer } = await authorized<BatchAnswer>("/logger/search/batch", {
      workspaceId,
      body,
      signal,
    });
    if (data.answers.length === 0) break;
    answers.push(...data.answers);
    snapshot = data.asOf;
  }
  const others = further.flatMap(({ key, start, end }, at) => {
    const answer = answers[ofPanels.length + at];
    return answer === undefined ? [] : [[key, { answer, start, end }] as const];
  });
  return { answers: answers.slice(0, ofPanels.length), further: new Map(others), asOf: snapshot };
}
