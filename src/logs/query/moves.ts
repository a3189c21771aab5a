/** A run of a project's entries that went to the cold tier between two pages of a read: `after < seq <= until`. */
export interface Move {
  projectId: string;
  after: number;
  until: number;
}

/** A run of `seq`s, both ends included. */
export interface SeqRun {
  first: number;
  last: number;
}

/** Each project's last `seq` in the cold tier, as the newest page of a read states it. */
export class Watermarks {
  readonly #seqs: Map<string, number>;

  constructor(flushed: readonly { projectId: string; seq: number }[]) {
    this.#seqs = new Map(flushed.map(({ projectId, seq }) => [projectId, seq]));
  }

  /**
   * Takes over the watermarks of a further page.
   * @returns what has moved since the page before; nothing of projects that the first page did not have
   */
  follow(flushed: readonly { projectId: string; seq: number }[]): Move[] {
    const moves: Move[] = [];
    for (const { projectId, seq } of flushed) {
      const after = this.#seqs.get(projectId);
      if (after === undefined || seq <= after) continue;
      moves.push({ projectId, after, until: seq });
      this.#seqs.set(projectId, seq);
    }
    return moves;
  }
}

/** The `seq`s of the batches that a read was given, as runs: batches mostly follow each other, so runs are few. */
export class ReturnedSeqs {
  readonly #runs = new Map<string, SeqRun[]>();

  add(projectId: string, first: number, last: number): void {
    const runs = this.#runs.get(projectId);
    const newest = runs?.at(-1);
    if (!runs) this.#runs.set(projectId, [{ first, last }]);
    else if (newest?.last === first - 1) newest.last = last;
    else if (newest?.first === last + 1) newest.first = first;
    else runs.push({ first, last });
  }

  /** The runs that reach into a move, in order. They are forgotten: what has moved is never given again. */
  take({ projectId, until }: Move): SeqRun[] {
    const runs = this.#runs.get(projectId) ?? [];
    const taken = runs.filter(({ first }) => first <= until);
    // A run may go on beyond the move, up to a batch that is still in the object.
    this.#runs.set(
      projectId,
      runs.filter(({ last }) => last > until),
    );
    return taken.map((run) => ({ ...run })).sort((a, b) => a.first - b.first);
  }
}
