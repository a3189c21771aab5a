import { describe, expect, it } from "vitest";
import { DEVICE_TOKEN_MS, mintDeviceToken, openDeviceToken } from "../../../src/accounts/login-throttle.ts";

const PEPPER = "pepper-pepper-pepper-pepper-pepper";
const EMAIL = "ada@example.com";
const USER = { userId: "usr_0123456789aB", email: EMAIL, epoch: 3 };
const NOW = 1_700_000_000_000;

describe("B10: a device token", () => {
  const token = mintDeviceToken(USER, PEPPER, NOW);

  it("B10: contains account, epoch and a new device id, and no address", () => {
    const opened = openDeviceToken(token, EMAIL, PEPPER, NOW);
    expect(opened).toEqual({ userId: USER.userId, epoch: 3, deviceId: expect.stringMatching(/^\w{22}$/) });
    const other = openDeviceToken(mintDeviceToken(USER, PEPPER, NOW), EMAIL, PEPPER, NOW);
    expect(other?.deviceId).not.toBe(opened?.deviceId);
    expect(Buffer.from(token.split("_")[1] ?? "", "base64url").toString()).not.toContain("ada");
  });

  it("B10: is valid for its address, its pepper and 400 days only", () => {
    expect(openDeviceToken(token, "eve@example.com", PEPPER, NOW)).toBeNull();
    expect(openDeviceToken(token, EMAIL, `${PEPPER}x`, NOW)).toBeNull();
    expect(openDeviceToken(token, EMAIL, PEPPER, NOW + DEVICE_TOKEN_MS - 1)).not.toBeNull();
    expect(openDeviceToken(token, EMAIL, PEPPER, NOW + DEVICE_TOKEN_MS)).toBeNull();
  });

  it("B10: is invalid with any character changed, like any other text", () => {
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
      // The last character of base64url has unused bits.
      if (at < token.length - 1) expect(openDeviceToken(changed, EMAIL, PEPPER, NOW)).toBeNull();
    }
    const minted = mintDeviceToken({ ...USER, epoch: -1 }, PEPPER, NOW);
    for (const text of ["", "dt_", "dt__", "rt_a_b", token.slice(3), `${token}${"A".repeat(300)}`, minted]) {
      expect(openDeviceToken(text, EMAIL, PEPPER, NOW)).toBeNull();
    }
  });
});
