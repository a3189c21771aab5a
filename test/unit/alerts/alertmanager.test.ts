import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { alertmanagerRequest } from "../../../src/alerts/notifications/alertmanager.ts";
import type { NotificationContent } from "../../../src/alerts/notifications/request.ts";
import { notificationOf } from "./support.ts";

/** Debian's `prometheus-alertmanager`, the project's own binary, or the file that ALERTMANAGER names. */
const BINARY = [process.env.ALERTMANAGER ?? "", "prometheus-alertmanager", "alertmanager"].find(
  (name) => name !== "" && spawnSync(name, ["--version"]).status === 0,
);

const CONFIG = "route:\n  receiver: none\nreceivers:\n  - name: none\n";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe.skipIf(BINARY === undefined)(
  BINARY === undefined ? "a stock Alertmanager (skipped: install prometheus-alertmanager)" : "a stock Alertmanager",
  () => {
    const dir = mkdtempSync(path.join(tmpdir(), "taffrail-alertmanager-"));
    let running: ChildProcess;
    let base: string;

    beforeAll(async () => {
      writeFileSync(path.join(dir, "config.yml"), CONFIG);
      const address = `127.0.0.1:${await freePort()}`;
      base = `http://${address}`;
      const args = [`--config.file=${dir}/config.yml`, `--storage.path=${dir}`, `--web.listen-address=${address}`];
      running = spawn(BINARY ?? "", [...args, "--cluster.listen-address="], { stdio: "ignore" });
      const isReady = () =>
        fetch(`${base}/-/ready`).then(
          ({ ok }) => ok,
          () => false,
        );
      await vi.waitUntil(isReady, { timeout: 30_000, interval: 100 });
    }, 60_000);

    afterAll(() => {
      running?.kill();
      rmSync(dir, { recursive: true, force: true });
    });

    async function post(notification: NotificationContent, alert: NotificationContent | null): Promise<number> {
      const { url, headers, body } = alertmanagerRequest(base, null, notification, alert, Date.now());
      const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
      return (await fetch(url, init)).status;
    }

    async function active(): Promise<Record<string, unknown>[]> {
      const response = await fetch(`${base}/api/v2/alerts?active=true`);
      // SAFETY: the API returns a list of alerts.
      return (await response.json()) as Record<string, unknown>[];
    }

    it("shows an alert as firing, and no more after its recovery", async () => {
      const firing = notificationOf({ decidedAt: new Date(Date.now() - 60_000).toISOString() });
      expect(await post(firing, null)).toBe(200);
      await expect.poll(active).toMatchObject([
        {
          labels: { alertname: "Payments fail", http_route: "/pay", severity: "critical" },
          annotations: { summary: "Payments fail" },
          status: { state: "active" },
          startsAt: firing.decidedAt,
        },
      ]);
      // A repeat is the same alert.
      expect(await post(firing, null)).toBe(200);
      expect(await active()).toHaveLength(1);
      const resolved = notificationOf({ kind: "resolved", title: "Renamed", decidedAt: new Date().toISOString() });
      expect(await post(resolved, firing)).toBe(200);
      await expect.poll(active).toEqual([]);
    });

    it("accepts names and values that its label rules do not know", async () => {
      const group = { "9 lives": "ü", "": "empty", "a.b-c": "\u0001" };
      expect(await post(notificationOf({ group, labels: { gone: "" } }), null)).toBe(200);
    });
  },
);
