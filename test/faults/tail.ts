import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "undici";
import type { Filter } from "./filters.ts";
import type { Project, Row } from "./project.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

interface Frame {
  type: string;
  entries?: Row[];
  seq?: number;
  code?: string;
}

const CLOSED = { ended: 4001, behind: 4008, fault: 1011 };
/** Milliseconds until a client reconnects, and in which a tail must be opened or refused. */
const AGAIN_MS = 30;
const OPEN_MS = 10_000;
const CLOSE_MS = 3000;

/**
 * A client that reads all of a project from its first entry on, and reconnects at its position whatever ends its
 * connection. Verifies each frame against that position on arrival.
 */
export class TailReader {
  readonly rows: Row[] = [];
  /** The position: every entry up to here has arrived or was excluded by the filter. */
  place = 0;
  /** How often the tail was opened, and how often the client dropped it. */
  opened = 0;
  dropped = 0;
  /** The code of the final close. */
  ended: string | null = null;
  readonly #world: World;
  readonly #project: Project;
  readonly #filter: Filter;
  readonly #name: string;
  readonly #random: Random;
  #socket: WebSocket | null = null;
  #isWanted = true;
  #moveOn: () => void = () => {};
  /** The time at which each connection that is not closed yet was dropped. */
  readonly #closing = new Map<WebSocket, number>();
  /** The last message and its time, by `performance.now()`. */
  #last = "";
  #heardAt = 0;

  constructor(world: World, project: Project, filter: Filter, name: string) {
    this.#world = world;
    this.#project = project;
    this.#filter = filter;
    this.#name = name;
    this.#random = world.random.fork(name);
  }

  get filter(): Filter {
    return this.#filter;
  }

  /** A summary for failure messages. */
  get state(): string {
    const { opened, dropped, ended } = this;
    const silentMs = Math.round(performance.now() - this.#heardAt);
    return JSON.stringify({
      opened,
      dropped,
      ended,
      socket: this.#socket?.readyState ?? null,
      last: this.#last,
      silentMs,
    });
  }

  get isConnected(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  get project(): Project {
    return this.#project;
  }

  /** Follows the project until `stop` or until the project is deleted. */
  async follow(): Promise<void> {
    while (this.#isWanted && this.ended === null) {
      if (this.#world.service.server.isServing) await this.#connection();
      await wait(AGAIN_MS);
    }
  }

  stop(): void {
    this.#isWanted = false;
    this.drop();
  }

  /** Closes the connection and continues without waiting for the other side's close. */
  drop(): void {
    const socket = this.#socket;
    if (!socket) return;
    this.dropped++;
    this.#closing.set(socket, performance.now());
    this.#socket = null;
    socket.close();
    this.#moveOn();
  }

  /** The number of connections that the client closed and whose close was not confirmed for long. */
  get unanswered(): number {
    return [...this.#closing.values()].filter((at) => performance.now() - at > CLOSE_MS).length;
  }

  /** Drops the connection now and then during the load. */
  async dropAround(): Promise<void> {
    const { course } = this.#world;
    while (!course.isOver) {
      await course.pause(this.#random.int(50, 1200));
      this.drop();
    }
  }

  /** One connection, from its opening to its end. */
  #connection(): Promise<void> {
    const { url } = this.#world.service.server;
    const query = new URLSearchParams({ since: String(this.place) });
    for (const [name, value] of Object.entries(this.#filter.filters)) {
      for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each));
    }
    const headers = { Authorization: `Bearer ${this.#project.key.secret}` };
    const address = `${url.replace("http", "ws")}/logger/${this.#project.id}/tail?${query}`;
    const socket = new WebSocket(address, { headers });
    this.#socket = socket;
    return new Promise((resolve) => {
      this.#moveOn = resolve;
      let isOpen = false;
      const giveUp = setTimeout(
        () => !isOpen && this.#socket === socket && this.#report(`was not opened within ${OPEN_MS} ms`),
        OPEN_MS,
      );
      socket.addEventListener("open", () => {
        this.#heard("open");
        isOpen = true;
        this.opened++;
      });
      socket.addEventListener("message", ({ data }) => {
        // Ignores what arrives after the client dropped the connection, as with a broken line.
        if (this.#socket !== socket) return;
        // SAFETY: each member of a frame is checked before it is used.
        this.#take(JSON.parse(String(data)) as Frame);
        // Some clients acknowledge every frame, some as rarely as they may.
        if (this.#random.oneIn(3)) socket.send(JSON.stringify({ type: "ack", seq: this.place }));
      });
      const end = () => {
        clearTimeout(giveUp);
        this.#closing.delete(socket);
        if (this.#socket === socket) this.#socket = null;
        resolve();
      };
      socket.addEventListener("error", end);
      socket.addEventListener("close", ({ code, reason }) => {
        this.#heard(`close ${code} ${reason}`);
        if (this.#socket === socket) this.#closed(code, reason);
        end();
      });
    });
  }

  #heard(what: string): void {
    this.#last = what;
    this.#heardAt = performance.now();
  }

  #take({ type, entries, seq, code }: Frame): void {
    this.#heard(`${type} ${entries?.at(-1)?.seq ?? seq ?? code}`);
    const isWhole = Object.keys(this.#filter.filters).length === 0;
    for (const row of entries ?? []) {
      const isNext = isWhole ? row.seq === this.place + 1 : row.seq > this.place;
      if (!isNext) this.#report(`got ${row.seq} behind ${this.place}`);
      this.#world.course.report(this.#project.see(row, this.#name));
      this.rows.push(row);
      this.place = row.seq;
    }
    if (type === "caught-up" && seq !== undefined) {
      if (isWhole ? seq !== this.place : seq < this.place)
        this.#report(`is caught up to ${seq}, being at ${this.place}`);
      this.place = seq;
    }
    if (type === "error" && code !== "SERVICE_UNAVAILABLE") this.#end(code ?? "");
  }

  #end(code: string): void {
    this.ended = code;
    if (this.#project.deletion === "none") this.#report(`was ended with ${code}`);
  }

  #closed(code: number, reason: string): void {
    const since = /^since=(\d+)$/.exec(reason)?.[1];
    const isWhole = Object.keys(this.#filter.filters).length === 0;
    if (code === CLOSED.ended) this.#end(reason);
    else if ((code === CLOSED.fault || code === CLOSED.behind) && since !== undefined) {
      if (isWhole && Number(since) !== this.place) this.#report(`is to go on at ${since}, being at ${this.place}`);
    } else if (code !== 1006 && code !== 1005 && code !== 1000) this.#report(`was closed with ${code} ${reason}`);
  }

  #report(what: string): void {
    this.#world.course.report([`tail ${this.#name} of ${this.#project.name} ${what}`]);
  }
}
