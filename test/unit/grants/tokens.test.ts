import { expect, it } from "vitest";
import { openRefreshToken } from "../../../src/accounts/refresh.ts";
import {
  isOfGrant,
  looksLikeAgentToken,
  mintGrantToken,
  newAccessToken,
  newCode,
  openGrantToken,
  parseAgentToken,
  parseCode,
} from "../../../src/grants/tokens.ts";
import { parseApiKey } from "../../../src/keys/api-key.ts";

const LINK = { workspaceId: "ws_0123456789Ab", grantId: "grant_0123456789Ab", counter: 7 };
const KEY = new Uint8Array(32).fill(1);

it("an access token and a code name their workspace, and are no other kind of credential", () => {
  const [access, code] = [newAccessToken(LINK.workspaceId), newCode(LINK.workspaceId)];
  expect(parseAgentToken(access.secret)).toEqual({ workspaceId: LINK.workspaceId, hash: access.hash });
  expect(parseCode(code.secret)).toEqual({ workspaceId: LINK.workspaceId, hash: code.hash });
  expect(looksLikeAgentToken(access.secret)).toBe(true);
  expect([parseCode(access.secret), parseAgentToken(code.secret), parseApiKey(access.secret)]).toEqual([
    null,
    null,
    null,
  ]);
  expect(parseAgentToken(`${access.secret.slice(0, -1)}${access.secret.endsWith("0") ? "1" : "0"}`)).toBeNull();
});

it("21.3: R6: a refresh token opens only unchanged, with the pepper, and belongs to one grant's key", () => {
  const token = mintGrantToken(LINK, KEY, "pepper");
  const opened = openGrantToken(token, "pepper");
  expect(opened).toMatchObject(LINK);
  if (opened === null) throw new Error("The token must open.");
  expect(isOfGrant(opened, KEY, "pepper")).toBe(true);
  expect(isOfGrant(opened, new Uint8Array(32), "pepper")).toBe(false);
  expect(isOfGrant({ ...opened, counter: 8 }, KEY, "pepper")).toBe(false);
  expect([openGrantToken(token, "other"), openRefreshToken(token, "pepper")]).toEqual([null, null]);
  for (let at = 0; at < token.length; at++) {
    const changed = `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
    expect([at, openGrantToken(changed, "pepper")]).toEqual([at, null]);
  }
});
