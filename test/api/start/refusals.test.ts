import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failedStart, freePort, launch, startServer, type TestServer, temporaryDir } from "../../support/server.ts";

describe("a start that is not possible", () => {
  test("reports that the port is taken, and starts nothing", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    const address = holder.address();
    const port = String(address !== null && typeof address === "object" ? address.port : 0);
    const dataDir = path.join(temporaryDir(), "data");
    const { code, output } = await failedStart({ PORT: port, DATA_DIR: dataDir });
    holder.close();
    expect(code).toBe(1);
    expect(output).toContain(`Port ${port} on 127.0.0.1 is taken`);
    expect(output).not.toContain("    at ");
    expect(existsSync(dataDir)).toBe(false);
  });

  test.each([
    ["PORT", "http"],
    ["PORT", "70000"],
    ["HOST", "two words"],
    ["AUTH_LIMIT", "0"],
    ["LOG_LEVEL", "loud"],
    ["BASE_URL", "example.com"],
    ["JWT_SECRET", "too short"],
    ["CORS_ORIGINS", "nowhere"],
  ])("names the invalid setting %s=%s", async (name, value) => {
    const { code, output } = await failedStart({
      PORT: String(await freePort()),
      DATA_DIR: temporaryDir(),
      [name]: value,
    });
    expect(code).toBe(1);
    expect(output).toContain("1 setting is invalid.");
    expect(output).toContain(`${name}`);
    if (name === "JWT_SECRET") expect(output).not.toContain(value);
    expect(output).not.toContain("    at ");
  });

  test.each(["0.0.0.0", "::"])(
    "refuses HOST=%s with MAILER=outbox, which would show all mails to other machines",
    async (host) => {
      const dataDir = path.join(temporaryDir(), "data");
      const { code, output } = await failedStart({ PORT: String(await freePort()), HOST: host, DATA_DIR: dataDir });
      expect(code).toBe(1);
      expect(output).toContain(`HOST=${host} is reachable by other machines`);
      expect(output).toContain("MAILER=outbox");
      expect(output).not.toContain("    at ");
      expect(existsSync(dataDir)).toBe(false);
    },
  );

  test("never replaces secrets that it cannot read", async () => {
    const dataDir = temporaryDir();
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(path.join(dataDir, "secrets.json"), "{");
    const { code, output } = await failedStart({ PORT: String(await freePort()), DATA_DIR: dataDir });
    expect(code).toBe(1);
    expect(output).toContain("secrets.json is damaged");
  });

  test("stops cleanly if it is interrupted during the start", async () => {
    const dataDir = temporaryDir();
    const run = launch({ PORT: String(await freePort()), DATA_DIR: dataDir });
    const lock = path.join(dataDir, "server.pid");
    while (!existsSync(lock)) await new Promise((resolve) => setTimeout(resolve, 5));
    process.kill(run.pid, "SIGINT");
    expect(await run.exit).toBe(0);
    expect(run.output()).not.toContain("running");
  });
});

describe("B13: a DATA_DIR that is open to other users of the machine", () => {
  const start = async (dataDir: string) => failedStart({ PORT: String(await freePort()), DATA_DIR: dataDir });
  const modeOf = (dataDir: string) => statSync(dataDir).mode & 0o7777;

  test("is closed to them if it is empty or a server's own, and the start says so", async () => {
    const dataDir = temporaryDir();
    chmodSync(dataDir, 0o755);
    const server = await startServer({ env: { DATA_DIR: dataDir } });
    expect(server.output()).toContain(`DATA_DIR ${dataDir} is open to other users of this machine (mode 755)`);
    expect(modeOf(dataDir)).toBe(0o700);
    await server.restart();
    expect(server.output()).not.toContain("open to other users");
    chmodSync(dataDir, 0o750);
    await server.restart();
    expect(server.output()).toContain("(mode 750): it has mode 700 now.");
    expect(modeOf(dataDir)).toBe(0o700);
    await server.stop();
  }, 120_000);

  test("is refused if it contains files of other programs", async () => {
    const dataDir = temporaryDir();
    writeFileSync(path.join(dataDir, "theirs.txt"), "");
    chmodSync(dataDir, 0o1777);
    const { code, output } = await start(dataDir);
    expect(code).toBe(1);
    expect(output).toContain("(mode 1777) and contains files of other programs");
    expect(output).not.toContain("    at ");
    expect(modeOf(dataDir)).toBe(0o1777);
  });

  test.runIf(process.getuid?.() === 0)("is refused if it belongs to another user", async () => {
    const dataDir = temporaryDir();
    chmodSync(dataDir, 0o755);
    chownSync(dataDir, 12_345, 12_345);
    const { code, output } = await start(dataDir);
    expect(code).toBe(1);
    expect(output).toContain("belongs to another user");
    expect(modeOf(dataDir)).toBe(0o755);
  });
});

describe("one data directory", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  test("is refused to a second server while the first runs", async () => {
    const { code, output } = await failedStart({ PORT: String(await freePort()), DATA_DIR: server.dataDir });
    expect(code).toBe(1);
    expect(output).toContain(`Taffrail is already running on DATA_DIR ${server.dataDir} (process ${server.pid})`);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });

  test("is reported as Taffrail's, not another program's, at a start on the same port", async () => {
    const { code, output } = await failedStart({ PORT: new URL(server.url).port, DATA_DIR: server.dataDir });
    expect(code).toBe(1);
    expect(output).toContain(`Taffrail is already running on DATA_DIR ${server.dataDir} (process ${server.pid})`);
    expect(output).not.toContain("another program");
  });
});
