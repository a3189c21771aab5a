import { execFile } from "node:child_process";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiFailure, OFFLINE } from "../../../../web/src/api/failure.ts";
import { curlOf, type QueryRequest } from "../../../../web/src/pages/explorer/actions/curl.ts";
import { download, type Progress, type Sink } from "../../../../web/src/pages/explorer/actions/download.ts";
import type { QueryPage } from "../../../../web/src/pages/explorer/query.ts";

const run = promisify(execFile);

function memory(): Sink & { text: string; state: "open" | "closed" | "discarded" } {
  return {
    text: "",
    state: "open",
    async write(text) {
      this.text += text;
    },
    async close() {
      this.state = "closed";
    },
    async discard() {
      this.state = "discarded";
    },
  };
}

/** A page of entries with these seqs. A page without entries is a response that stopped early. */
function page(seqs: readonly number[], nextCursor: string | null, complete = true): QueryPage {
  const logs = seqs.map((seq) => ({
    id: `log_${seq}`,
    seq,
    projectId: "proj_x",
    level: "info" as const,
    category: "custom",
    type: "log",
    message: `line\n${seq}`,
    timestamp: "2026-11-20T14:00:00.000Z",
    receivedAt: "2026-11-20T14:00:00.000Z",
  }));
  const pagination = { offset: 0, limit: 1000, hasMore: nextCursor !== null, nextCursor };
  return { logs, pagination, complete, asOf: "a", stats: { scanned: 0, recent: 0, stored: 0, tookMs: 0 } };
}

function seqs(text: string): number[] {
  const lines = text.split("\n").slice(0, -1);
  // SAFETY: written above.
  return lines.map((line) => (JSON.parse(line) as { seq: number }).seq);
}

describe("a download", () => {
  it("continues after partial pages, waits for a limit and retries after an outage", async () => {
    const limited = new ApiFailure("no", { code: "RATE_LIMITED", status: 429, retryAfter: 7 });
    const offline = new ApiFailure("no", { code: OFFLINE, status: 0 });
    const answers = [page([3, 2], "c1"), limited, limited, page([], "c2", false), offline, page([1], null)];
    const asked: (string | undefined)[] = [];
    const waited: number[] = [];
    const shown: Progress[] = [];
    const sink = memory();
    const count = await download({
      request: { order: "desc" },
      sink,
      ask: async ({ pagination }: QueryRequest) => {
        asked.push(pagination?.cursor);
        const answer = answers.shift();
        if (answer === undefined || answer instanceof Error) throw answer;
        return answer;
      },
      sleep: async (seconds) => void waited.push(seconds),
      onProgress: (progress) => shown.push(progress),
    });
    expect(count).toBe(3);
    expect(sink.state).toBe("closed");
    expect(seqs(sink.text)).toEqual([3, 2, 1]);
    expect(asked).toEqual([undefined, "c1", "c1", "c1", "c2", "c2"]);
    expect(waited).toEqual([7, 7, 2]);
    expect(shown).toContainEqual({ entries: 2, waiting: 7 });
    expect(shown.at(-1)).toEqual({ entries: 3, waiting: null });
  });

  it("fails without a file after a long outage or a final error", async () => {
    for (const [code, status, calls] of [
      [OFFLINE, 0, 4],
      ["FORBIDDEN", 403, 1],
    ] as const) {
      const sink = memory();
      let asked = 0;
      const failing = download({
        request: {},
        sink,
        ask: async () => {
          asked++;
          throw new ApiFailure("no", { code, status });
        },
        sleep: async () => undefined,
        onProgress: () => undefined,
      });
      await expect(failing).rejects.toMatchObject({ code });
      expect([sink.state, asked]).toEqual(["discarded", calls]);
    }
  });
});

describe("the shell command", () => {
  it("passes any body unchanged through a shell", async () => {
    const texts = fc.sample(
      fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.replaceAll("\0", "")),
      30,
    );
    const bodies = [...texts, "'", "'\\''", '"$HOME"', "`id`", "\\", "!!", "@file", "a\nb"].map((search) => ({
      filters: { search },
    }));
    for (const body of bodies) {
      const command = curlOf("http://127.0.0.1:1", "/logger/query", body, "logs:read");
      // A shell function in place of curl prints its arguments.
      const { stdout } = await run("sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${command}`], {
        env: { PATH: process.env.PATH, TAFFRAIL_API_KEY: "sk_test" },
      });
      const args = stdout.split("\0");
      expect(args[args.indexOf("--data-raw") + 1]).toBe(JSON.stringify(body));
      expect(args).toContain("Authorization: Bearer sk_test");
    }
  });
});
