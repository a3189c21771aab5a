import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, asUser, call, createTenant, type Tenant } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

async function limitedTenant(limit: number, windowSeconds = 60): Promise<Tenant> {
  const tenant = await createTenant(server.url);
  const path = `/workspaces/${tenant.account.workspaceId}/rate-limits`;
  const body = { default: { limit, windowSeconds } };
  expect((await call(server.url, path, { ...asUser(tenant.account), method: "PUT", body })).status).toBe(200);
  return tenant;
}

const write = ({ projectId, key }: Tenant): Promise<Answer> =>
  call(server.url, `/logger/${projectId}/log`, { token: key.secret, body: { message: "m" } });

async function burst(tenant: Tenant, count: number) {
  const answers = await Promise.all(Array.from({ length: count }, () => write(tenant)));
  const admitted = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status === 429);
  expect(admitted.length + refused.length).toBe(count);
  return { admitted, refused };
}

const remaining = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Remaining"));

describe("200 parallel requests against a limit of 50", () => {
  test("over real connections: exactly 50 are admitted, every header is right, every time", async () => {
    for (let round = 0; round < 3; round++) {
      const { admitted, refused } = await burst(await limitedTenant(50), 200);
      expect(admitted).toHaveLength(50);
      expect(admitted.map(remaining).sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
      for (const { headers, body } of refused) {
        expect(body.error).toMatchObject({ code: "RATE_LIMITED", message: "Too many requests" });
        expect(body.error.details?.[0]?.message).toMatch(/^At most 50 requests in 60 s for this API key /);
        expect(headers.get("X-RateLimit-Limit")).toBe("50");
        expect(headers.get("X-RateLimit-Remaining")).toBe("0");
        expect(headers.get("Retry-After")).toMatch(/^([1-9]|[1-5]\d|60)$/);
      }
    }
  });

  test("admit 50 in total if the server is killed and restarted in the middle of the window", async () => {
    // An hour, so that a slow restart does not leave the window.
    const tenant = await limitedTenant(50, 3600);
    expect((await burst(tenant, 20)).admitted).toHaveLength(20);
    await server.kill9();
    await server.restart();
    const { admitted } = await burst(tenant, 200);
    expect(admitted.map(remaining).sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));
    await server.kill9();
    await server.restart();
    expect((await burst(tenant, 50)).admitted).toHaveLength(0);
  });

  test("never admit more than 50 if the server is killed under load, acknowledged before and after together", async () => {
    const tenant = await limitedTenant(50, 3600);
    let acknowledged = 0;
    const writeUntilKilled = async () => {
      try {
        for (;;) if ((await write(tenant)).status === 201) acknowledged++;
      } catch {
        // The server was killed.
      }
    };
    const writers = Array.from({ length: 4 }, writeUntilKilled);
    while (acknowledged < 10) await write(tenant).then(({ status }) => status === 201 && acknowledged++);
    await server.kill9();
    await Promise.all(writers);
    await server.restart();
    acknowledged += (await burst(tenant, 100)).admitted.length;
    // A request that was admitted but killed before its response counts, too. The total may be lower, never higher.
    expect(acknowledged).toBeLessThanOrEqual(50);
    expect(acknowledged).toBeGreaterThan(40);
  });
});

test("sign-in is limited to 5 a minute and client IP, also after a kill", async () => {
  const strict = await startServer({ env: { AUTH_LIMIT: "5" } });
  try {
    const headers = { "CF-Connecting-IP": "192.0.2.9" };
    const login = () =>
      call(strict.url, "/auth/login", { headers, body: { email: "a@example.com", password: "wrong password" } });
    const codes = async (count: number) =>
      (await Promise.all(Array.from({ length: count }, login))).map(({ body }) => body.error.code).sort();
    expect(await codes(3)).toEqual(Array(3).fill("INVALID_CREDENTIALS"));
    await strict.kill9();
    await strict.restart();
    expect(await codes(10)).toEqual([...Array(2).fill("INVALID_CREDENTIALS"), ...Array(8).fill("RATE_LIMITED")]);
    const other = await call(strict.url, "/auth/me", { headers: { "CF-Connecting-IP": "192.0.2.10" } });
    expect(other.headers.get("X-RateLimit-Remaining")).toBe("4");
  } finally {
    await strict.stop();
  }
});
