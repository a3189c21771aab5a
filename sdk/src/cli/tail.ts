import { answerOf, formatRefusal, isTemporary, type Refusal } from "./api.ts";
import type { TailCommand } from "./commands.ts";
import { passes } from "./data-test.ts";
import { EXIT, Failure, reasonOf } from "./failure.ts";
import { toQueryFilters, toTailQuery } from "./filters.ts";
import { type Io, notice, writeLine } from "./io.ts";
import { jsonLine, prettyLine, type StoredEntry } from "./pretty.ts";
import { entriesOf, queryEntries } from "./query.ts";
import { record } from "./record.ts";
import { backoff } from "./retry.ts";
import { formatWait, sleep } from "./time.ts";
import { type Closed, type Connection, connect } from "./websocket.ts";

const HANDSHAKE_MS = 30_000;
/** Milliseconds between pings. A lost connection is detected within two of them. */
const PING_MS = 20_000;
/** The service's WebSocket close codes. */
const ENDED = 4001;
const BEHIND = 4008;
const BAD_MESSAGE = 1008;
const STOPPING = 1001;

/** Messages for the reasons of close code 4001. */
const ENDS: Readonly<Record<string, string>> = {
  API_KEY_REVOKED: "the key has been revoked",
  API_KEY_EXPIRED: "the key has expired",
  NOT_FOUND: "the project was deleted",
};

export async function tail(io: Io, command: TailCommand): Promise<number> {
  const follower = new Follower(io, command);
  try {
    await follower.follow();
  } catch (error) {
    // Stopping the command aborts requests in flight, which is not an error.
    if (!io.stop.aborted) throw error;
  } finally {
    const { position, wasOpen } = follower;
    if (wasOpen && position !== null)
      notice(io, `Seen up to seq ${position}. To continue after it: --since seq:${position}`);
  }
  return EXIT.ok;
}

type Opened = { kind: "open"; connection: Connection } | { kind: "again"; why: string; wait: number | null };

/** One tail over any number of connections. */
class Follower {
  /** The seq up to which all entries were written or filtered out; `null` until the service has sent a seq. */
  position: number | null;
  /** Whether the service has accepted a connection before. */
  wasOpen = false;
  readonly #io: Io;
  readonly #command: TailCommand;
  /** Number of entries that may still be written. */
  #left: number;
  #failures = 0;

  constructor(io: Io, command: TailCommand) {
    this.#io = io;
    this.#command = command;
    this.#left = command.limit;
    this.position = command.start.kind === "seq" ? command.start.seq : null;
  }

  /** Follows until the limit is reached or the command is stopped. @throws Failure if the service ends the tail */
  async follow(): Promise<void> {
    const { start } = this.#command;
    if (start.kind === "time") await this.#writeStored(start.ms);
    while (!this.#isOver()) await this.#withConnection((connection) => this.#live(connection));
  }

  #isOver(): boolean {
    return this.#io.stop.aborted || this.#left === 0;
  }

  /**
   * Writes the stored entries with a timestamp from `from`. Tails start at a seq, not at a time: a first tail returns
   * the newest seq, a query that starts later returns the entries up to it, and the following tail begins after it.
   */
  async #writeStored(from: number): Promise<void> {
    const newest = await this.#newest();
    if (newest === null) return;
    const { service, project, filters } = this.#command;
    const question = { projectId: project, ...toQueryFilters(filters, from, null), order: "asc" };
    for await (const entry of queryEntries(this.#io, service, question, Number.POSITIVE_INFINITY, true)) {
      if (this.#isOver()) return;
      if (entry.seq <= newest) await this.#write(entry);
    }
    this.position = newest;
  }

  async #newest(): Promise<number | null> {
    let newest: number | null = null;
    while (newest === null && !this.#isOver()) {
      await this.#withConnection(async (connection) => {
        const messages = connection.messages();
        for (;;) {
          const { done, value } = await messages.next();
          if (done) return value;
          const frame = record(JSON.parse(value));
          const seq = frame?.type === "caught-up" ? frame.seq : entriesOf(frame?.entries)[0]?.seq;
          // Entries before the first `caught-up` are new, so the newest stored entry precedes them.
          if (typeof seq === "number") {
            newest = frame?.type === "caught-up" ? seq : seq - 1;
            return null;
          }
        }
      });
    }
    return newest;
  }

  /** Opens one connection and uses it until its end. Waits if the next connection must wait. */
  async #withConnection(use: (connection: Connection) => Promise<Closed | null>): Promise<void> {
    const opened = await this.#open();
    if (this.#io.stop.aborted) return;
    if (opened.kind === "again") return this.#pause(opened.why, opened.wait);
    const { connection } = opened;
    if (this.#failures > 0) {
      notice(this.#io, this.position === null ? "Reconnected." : `Reconnected after seq ${this.position}.`);
    }
    this.wasOpen = true;
    const close = () => connection.close();
    this.#io.stop.addEventListener("abort", close);
    try {
      const closed = await use(connection);
      if (closed && !this.#isOver()) await this.#resume(closed);
    } finally {
      this.#io.stop.removeEventListener("abort", close);
      connection.close();
    }
  }

  async #open(): Promise<Opened> {
    const { service, project, filters } = this.#command;
    const url = new URL(`${service.url}/logger/${encodeURIComponent(project)}/tail`);
    url.search = toTailQuery(filters, this.position).toString();
    try {
      const connected = await connect(url, {
        headers: { Authorization: `Bearer ${service.key}` },
        timeoutMs: HANDSHAKE_MS,
        pingMs: PING_MS,
        signal: this.#io.stop,
      });
      if (connected.kind === "open") return connected;
      const { status, headers, body } = connected;
      const answer = answerOf(status, (name) => headers[name]?.toString() ?? null, body, service);
      if (answer.kind !== "refused") throw new Failure(`${service.url} did not open a tail.`);
      const { refusal } = answer;
      // 409: the workspace has its maximal number of tails. The tail of the lost connection may still be counted.
      const isPatient = isTemporary(refusal) || (refusal.status === 409 && this.wasOpen);
      if (!isPatient) throw new Failure(this.#formatRefusal(refusal));
      return { kind: "again", why: formatRefusal(refusal), wait: refusal.wait };
    } catch (error) {
      if (error instanceof Failure) throw error;
      const why = `No connection to ${service.url} (${reasonOf(error)}).`;
      // If the first connection fails, the URL is probably wrong.
      if (!this.wasOpen && !this.#io.stop.aborted) throw new Failure(why);
      return { kind: "again", why, wait: null };
    }
  }

  /** Formats a refusal. For a seq beyond the newest entry, names the option that the user typed. */
  #formatRefusal(refusal: Refusal): string {
    const { start } = this.#command;
    const isTyped = start.kind === "seq" && start.seq === this.position;
    if (!isTyped || !refusal.details.some(({ path }) => path === "query.since")) {
      return formatRefusal(refusal, this.#command.filters.q);
    }
    return `--since seq:${start.seq}: the project has not reached this seq. Without --since the tail starts now.`;
  }

  async #live(connection: Connection): Promise<Closed | null> {
    const messages = connection.messages();
    for (;;) {
      const { done, value } = await messages.next();
      if (done) return value;
      const frame = record(JSON.parse(value));
      this.#failures = 0;
      for (const entry of entriesOf(frame?.entries)) {
        if (this.#isOver()) return null;
        await this.#write(entry);
        this.position = entry.seq;
      }
      if (frame?.type === "caught-up" && typeof frame.seq === "number") this.position = frame.seq;
      if (this.#isOver()) return null;
      if (this.position !== null) connection.send(JSON.stringify({ type: "ack", seq: this.position }));
    }
  }

  async #write(entry: StoredEntry): Promise<void> {
    const { filters, json, colors } = this.#command;
    if (!passes(filters.data, entry)) return;
    await writeLine(this.#io, json ? jsonLine(entry) : prettyLine(entry, colors));
    this.#left--;
  }

  /** Prepares the next connection. @throws Failure if the tail has ended */
  async #resume({ code, reason }: Closed): Promise<void> {
    if (code === ENDED)
      throw new Failure(`The service ended the tail: ${ENDS[reason] ?? "unknown reason"} (${reason}).`);
    if (code === BAD_MESSAGE) throw new Failure(`The service ended the tail: ${reason} (${code}).`);
    if (code === BEHIND) {
      notice(this.#io, "The tail fell too far behind. Reconnecting.");
      return;
    }
    if (code === STOPPING) return this.#pause("The service restarts.", null);
    await this.#pause(`The connection was lost (${reason === "" ? code : `${code}, ${reason}`}).`, null);
  }

  async #pause(why: string, asked: number | null): Promise<void> {
    const wait = asked ?? backoff(this.#failures, this.#io.random);
    this.#failures++;
    notice(this.#io, `${why} Retrying in ${formatWait(wait)}.`);
    await sleep(wait, this.#io.stop);
  }
}
