import { expect, it } from "vitest";
import { newId } from "../../../src/ids.ts";
import { TAIL_CALL_HEADER, TAIL_REFUSAL_HEADER, type TailCall } from "../../../src/rpc/tail.ts";
import { newTenant, workspace } from "../ingest/support.ts";

it("a refusal has no body that could be truncated when the object is lost", async () => {
  const { workspaceId } = await newTenant();
  const reader = { kind: "key", hash: "0".repeat(64) } as const;
  const call: TailCall = { reader, projectId: newId("proj"), route: null, filter: "", since: null };
  const headers = { Upgrade: "websocket", [TAIL_CALL_HEADER]: encodeURIComponent(JSON.stringify(call)) };
  const answer = await workspace(workspaceId).fetch(new Request("http://workspace/tail", { headers }));
  expect(answer.webSocket).toBeNull();
  expect(await answer.text()).toBe("");
  const refusal = JSON.parse(decodeURIComponent(answer.headers.get(TAIL_REFUSAL_HEADER) ?? ""));
  expect(refusal).toMatchObject({ ok: false, code: "INVALID_API_KEY" });
});
