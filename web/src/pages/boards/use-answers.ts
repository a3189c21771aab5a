import { useRef } from "preact/hooks";
import type { FailureDetail } from "../../api/failure.ts";
import { type Loaded, useLoad } from "../../lib/load.ts";
import type { Board } from "../../model/boards.ts";
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

/** The answers of a board by panel, and when they were asked for. */
export interface Answers {
  of: ReadonlyMap<string, PanelAnswer>;
  /** The query of each panel that was asked. */
  asked: ReadonlyMap<string, string>;
  /** Epoch milliseconds. */
  at: number;
}

/**
 * Loads the answers to all queries of a board with one request. A refresh, also with other times, keeps the answers until the
 * next ones are there.
 */
export function useAnswers(workspaceId: string, board: Board, times: Times, round: number): Loaded<Answers> {
  const { projectId, panels } = board;
  const key = JSON.stringify([board.id, projectId, panels.map(({ id, query, range }) => [id, query, range]), round]);
  const last = useRef<{ board: string; answers: Answers } | null>(null);
  const loaded = useLoad(`${key} ${times.from} ${times.to}`, async (signal): Promise<Answers> => {
    const now = Date.now();
    const queries = panels.map((panel) => queryOf(panel, times, projectId, now));
    const answers = await ask(workspaceId, queries, signal);
    return {
      of: new Map(panels.flatMap(({ id }, at) => (answers[at] ? [[id, answers[at]]] : []))),
      asked: new Map(panels.map(({ id, query }) => [id, query])),
      at: now,
    };
  });
  if (loaded.data !== null) last.current = { board: board.id, answers: loaded.data };
  const kept = last.current?.board === board.id ? last.current.answers : null;
  return { ...loaded, data: loaded.data ?? kept };
}

/** Boards that were stored with more panels need a second request, on the snapshot of the first. */
async function ask(workspaceId: string, queries: readonly BatchQuery[], signal: AbortSignal): Promise<PanelAnswer[]> {
  const answers: PanelAnswer[] = [];
  let snapshot: string | null = null;
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
  return answers;
}
