import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import http from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { register } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test("B14: no port of the process group shows the outbox to a caller with another URL and host", async () => {
  await register(server.url);
  const outbox = `http://127.0.0.1:${server.port}/dev/outbox`;
  // The mail of the registration arrives shortly afterwards.
  await expect.poll(async () => (await (await fetch(outbox)).json()).data.items.length, { timeout: 20_000 }).toBe(1);

  const ports = listeningPorts(server.pid);
  expect(ports).toContain(server.port);
  const names = ["MF-Original-URL", "MF-Op-Original-URL", "MF-Original-Hostname", "X-Forwarded-Host"];
  for (const port of ports) {
    for (const name of names) {
      const headers = { Host: "attacker.example", [name]: name.endsWith("URL") ? outbox : "127.0.0.1" };
      const answer = await get(port, headers);
      expect(answer.status, `${port} ${name}`).not.toBe(200);
      expect(answer.text, `${port} ${name}`).not.toContain("items");
    }
  }
});

test("B14: the runtime listens on the service's port, and otherwise on files of the owner only", () => {
  const ports = listeningPorts(server.pid, (command) => command.includes("workerd"));
  expect(ports).toEqual([server.port]);
});

/** Returns one response, on a separate connection and with exactly these headers. */
function get(port: number, headers: Readonly<Record<string, string>>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = http.get({ host: "127.0.0.1", port, path: "/dev/outbox", headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (data: string) => {
        text += data;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on("error", reject);
  });
}

/** TCP ports on which processes of a group listen, read from /proc. */
function listeningPorts(group: number, isMeant: (command: string) => boolean = () => true): number[] {
  const sockets = new Set<string>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (Number(pgrp) !== group || !isMeant(readFileSync(`/proc/${pid}/cmdline`, "utf8"))) continue;
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
        if (inode !== undefined) sockets.add(inode);
      }
    } catch {
      // The process has ended.
    }
  }
  const ports = ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, "utf8")
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      // State 0A is LISTEN.
      .filter((fields) => fields[3] === "0A" && sockets.has(fields[9] ?? ""))
      .map((fields) => Number.parseInt(fields[1]?.split(":")[1] ?? "", 16)),
  );
  return [...new Set(ports)];
}
