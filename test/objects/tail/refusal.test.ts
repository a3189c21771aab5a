import { expect, it } from "vitest";
import { newId } from "../../../src/ids.ts";
import { OPEN_FILTER } from "../../../src/logs/query/filter.ts";
import { TAIL_CALL_HEADER, TAIL_REFUSAL_HEADER, type TailCall } from "../../../src/rpc/tail.ts";
import { tailFilterText } from "../../../src/tail/filter.ts";
import { newTenant, workspace } from "../ingest/support.ts";

const filter = tailFilterText({ ...OPEN_FILTER, rest: null });

/** Opens a tail with a key that does not exist. */
async function opened(change: Partial<TailCall>): Promise<Response> {
  const { workspaceId } = await newTenant();
  const reader = { kind: "key", hash: "0".repeat(64) } as const;
  const call: TailCall = { reader, projectId: newId("proj"), route: null, filter, since: null, ...change };
  const headers = { Upgrade: "websocket", [TAIL_CALL_HEADER]: encodeURIComponent(JSON.stringify(call)) };
  return workspace(workspaceId).fetch(new Request("http://workspace/tail", { headers }));
}

const refusalOf = ({ headers }: Response) => JSON.parse(decodeURIComponent(headers.get(TAIL_REFUSAL_HEADER) ?? ""));

it("a refusal has no body that could be truncated when the object is lost", async () => {
  const answer = await opened({});
  expect(answer.webSocket).toBeNull();
  expect(await answer.text()).toBe("");
  expect(refusalOf(answer)).toMatchObject({ ok: false, code: "INVALID_API_KEY" });
});

it("a filter of a later version is refused as unavailable instead of being ignored", async () => {
  const later = JSON.stringify([...JSON.parse(filter).slice(0, 6), 3, "a", "web-1"]);
  expect(refusalOf(await opened({ filter: later }))).toMatchObject({ ok: false, code: "SERVICE_UNAVAILABLE" });
});
