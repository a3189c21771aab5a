import { beforeAll, expect, test } from "vitest";
import { createTenant, type Tenant } from "../../support/api.ts";
import { sharedServerUrl } from "../../support/shared-server-url.ts";
import { Wire } from "./wire.ts";

let port: number;
let tenant: Tenant;
beforeAll(async () => {
  const url = await sharedServerUrl();
  port = Number(new URL(url).port);
  tenant = await createTenant(url);
});

const MIB = 1024 * 1024;

test.each([
  ["without a key", 401, "POST", "/logger/x/log", "", 4 * MIB],
  ["with a malformed key", 401, "POST", "/logger/x/log", "sk_x", 4 * MIB],
  ["to an unknown path", 404, "POST", "/nothing", "", 4 * MIB],
  ["by an unknown method", 405, "PUT", "/projects", "", 4 * MIB],
  ["with a GET", 200, "GET", "/health", "", 4 * MIB],
  ["over the limit of ingest", 413, "POST", "/logger/{own}/log", "key", 12 * MIB],
  ["over the limit of JSON", 413, "POST", "/projects", "token", 12 * MIB],
  ["of another type", 415, "POST", "/projects", "plain", 200_000],
])("a client that sends a large body %s reads its response: %i", async (_, status, method, path, credential, size) => {
  const target = path.replace("{own}", tenant.projectId);
  const token = { key: tenant.key.secret, token: tenant.account.accessToken, plain: tenant.account.accessToken }[
    credential
  ];
  const headers = {
    Authorization: `Bearer ${token ?? credential}`,
    "X-Workspace-Id": tenant.account.workspaceId,
    "Content-Type": credential === "plain" ? "text/plain" : "application/json",
  };
  // Each on a separate connection, because a reset affects only the request that was answered too early.
  const answers = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const wire = new Wire(port, 1);
      const answer = await wire.send({ method, path: target, headers, body: Buffer.alloc(size, " ") });
      wire.close();
      return answer.status;
    }),
  );
  expect(answers).toEqual(Array(5).fill(status));
});
