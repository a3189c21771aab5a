import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { Client } from "undici";
import { StartFailure } from "../../scripts/lib/failure.ts";
import { claimablePort } from "../../scripts/lib/port.ts";
import { directoryBytes } from "../disk.ts";
import { send } from "../load/requests.ts";
import type { Answer } from "./comparison.ts";
import { linesOf, type TargetData } from "./entries.ts";

const HOST = "127.0.0.1";
const REQUEST_ENTRIES = 20_000;
const FIELDS = new URLSearchParams({
  _time_field: "timestamp",
  _msg_field: "message",
  _stream_fields: "category,type",
});
const START_MS = 10_000;
/** Milliseconds between two looks at its merges. */
const POLL_MS = 2000;
/** Marks a directory whose entries are complete. */
const MARK = "bench-complete";

/** A VictoriaLogs server on this machine with the same entries, to compare with. */
export class VictoriaLogs {
  readonly version: string;
  readonly pid: number;
  /** Bytes on disk for each entry, after its merges. */
  bytesPerEntry = Number.NaN;
  readonly #process: ChildProcess;
  readonly #url: string;

  private constructor(process: ChildProcess, url: string, version: string) {
    this.#process = process;
    this.#url = url;
    this.version = version;
    this.pid = process.pid ?? 0;
  }

  /**
   * Starts the server and stores the entries, unless its directory has them.
   * @param binary path of its executable
   * @throws StartFailure if it does not start
   */
  static async start(binary: string, directory: string, data: TargetData): Promise<VictoriaLogs> {
    // Entries of an earlier process that did not store all of them.
    if (!existsSync(path.join(directory, MARK))) rmSync(directory, { recursive: true, force: true });
    const port = await claimablePort(HOST, 0);
    const address = `${HOST}:${port}`;
    const flags = [
      `-httpListenAddr=${address}`,
      `-storageDataPath=${directory}`,
      "-retentionPeriod=30d",
      // A connection that the server closes while a question is sent would end the run.
      "-http.connTimeout=24h",
      "-http.idleConnTimeout=24h",
    ];
    const version = /victoria-logs-\S+/.exec(execFileSync(binary, ["-version"], { encoding: "utf8" }))?.[0];
    const child = spawn(binary, [...flags, "-loggerLevel=ERROR"], { stdio: ["ignore", "ignore", "inherit"] });
    process.on("exit", () => child.kill("SIGKILL"));
    const server = new VictoriaLogs(child, `http://${address}`, version ?? "of an unknown version");
    await server.#ready();
    const mark = path.join(directory, MARK);
    if (!existsSync(mark)) {
      await server.#store(data);
      writeFileSync(mark, "");
    }
    const [row] = (await server.ask("* | stats count() count", data.start, data.end, null)).rows;
    if (Number(row?.count) !== data.entries) {
      throw new Error(`VictoriaLogs has ${row?.count} of ${data.entries} entries.`);
    }
    server.bytesPerEntry = directoryBytes(directory) / data.entries;
    return server;
  }

  async #ready(): Promise<void> {
    for (const until = Date.now() + START_MS; Date.now() < until; await setTimeout(50)) {
      const answer = await fetch(`${this.#url}/health`).catch(() => null);
      if (answer?.ok) return;
    }
    throw new StartFailure("VictoriaLogs does not answer.");
  }

  async #store(data: TargetData): Promise<void> {
    const client = new Client(this.#url);
    for (let sent = 0; sent < data.entries; sent += REQUEST_ENTRIES) {
      const body = linesOf(data, sent, Math.min(REQUEST_ENTRIES, data.entries - sent));
      const headers = { "content-type": "application/stream+json" };
      const failure = await send(client, {
        path: `/insert/jsonline?${FIELDS}`,
        headers,
        body,
        expectedStatus: 200,
      });
      if (failure !== null) throw new Error(`VictoriaLogs did not store the entries: ${failure}`);
    }
    await client.close();
    await (await fetch(`${this.#url}/internal/force_flush`)).text();
    // In the background.
    await (await fetch(`${this.#url}/internal/force_merge`)).text();
    do await setTimeout(POLL_MS);
    while (await this.#isMerging());
  }

  async #isMerging(): Promise<boolean> {
    const metrics = await (await fetch(`${this.#url}/metrics`)).text();
    return /^vl_active_(?:force_)?merges\S* [1-9]/m.test(metrics);
  }

  /**
   * @param from epoch milliseconds; entries from `to` on are left out
   * @param limit the newest entries; `null` for a table
   */
  async ask(query: string, from: number, to: number, limit: number | null): Promise<Answer> {
    const body = new URLSearchParams({
      query,
      start: new Date(from).toISOString(),
      // Inclusive.
      end: new Date(to - 1).toISOString(),
      ...(limit === null ? {} : { limit: String(limit) }),
    });
    const answer = await fetch(`${this.#url}/select/logsql/query`, { method: "POST", body });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`VictoriaLogs answered ${answer.status}: ${text.slice(0, 300)}`);
    const lines = text.split("\n").filter((line) => line !== "");
    // SAFETY: a line is an object of strings.
    const rows = lines.map((line) => JSON.parse(line) as Record<string, string>);
    // The newest entries come in any order.
    if (limit !== null) rows.sort((a, b) => Date.parse(b._time ?? "") - Date.parse(a._time ?? ""));
    return {
      rows: rows.map(({ _time, ...row }) => (_time === undefined ? row : { ...row, time: _time })),
      traceIds: rows.flatMap(({ traceId }) => traceId ?? []),
      isExact: true,
    };
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    await ended;
  }
}
