import { describe, expect, it } from "vitest";
import { answerUrl, isRegisteredRedirect, receiverOf, redirectUriProblem } from "../../../src/grants/redirect-uri.ts";

describe("redirect URIs", () => {
  it.each([
    "https://app.example.com/callback",
    "https://app.example.com/callback?tenant=1",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:49152/callback",
    "http://[::1]:8080/",
    "http://localhost:33418/",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "com.example.app:/callback",
  ])("may be %s", (uri) => expect(redirectUriProblem(uri)).toBeNull());

  it.each([
    "",
    "/callback",
    "http://app.example.com/callback",
    "http://127.0.0.1.example.com/",
    "http://localhost.example.com/",
    "http://192.168.0.1/",
    "https://user@app.example.com/",
    "https://user:password@app.example.com/",
    "https://app.example.com/callback#fragment",
    "https://app.example.com/callback#",
    "https://app.example.com/callback?code=mine",
    "https://app.example.com/?state=x",
    "javascript:alert(1)",
    "JavaScript:alert(1)//",
    "data:text/html,x",
    "blob:https://app.example.com/1",
    "file:///etc/passwd",
    "view-source:https://app.example.com/",
    "ms-settings:privacy",
    "intent://x#Intent;end",
    "https://app.example.com/ space",
    "https://app.example.com/\u0000",
    `https://app.example.com/${"x".repeat(1000)}`,
  ])("are refused: %j", (uri) => expect(redirectUriProblem(uri)).toMatch(/^must /));

  it.each(["http://127.1/callback", "http://2130706433/callback", "HTTP://0x7f.0.0.1:80/callback"])(
    "may spell this machine as browsers read it, and the answer goes to its usual address: %s",
    (uri) => {
      expect([redirectUriProblem(uri), receiverOf(uri)]).toEqual([null, "this computer"]);
      expect(isRegisteredRedirect([uri], "http://127.0.0.1:49152/callback")).toBe(true);
      expect(answerUrl(uri, { code: "c" })).toBe("http://127.0.0.1/callback?code=c");
    },
  );

  it("match by text, and on this machine with any port", () => {
    const registered = ["https://app.example.com/callback", "http://127.0.0.1/callback", "http://localhost:1/a?b=c"];
    for (const uri of [
      "https://app.example.com/callback",
      "http://127.0.0.1:49152/callback",
      "http://127.0.0.1/callback",
      "http://localhost:5/a?b=c",
    ]) {
      expect([uri, isRegisteredRedirect(registered, uri)]).toEqual([uri, true]);
    }
    for (const uri of [
      "https://app.example.com/callback/",
      "https://app.example.com/callback?x=1",
      "https://app.example.com:8443/callback",
      "https://APP.example.com/callback",
      "https://app.example.com/callback/../callback",
      "https://evil.example.com/callback",
      "http://127.0.0.1:49152/other",
      "http://localhost:49152/callback",
      "http://[::1]/callback",
      "https://127.0.0.1/callback",
      "http://127.0.0.1:1@evil.example.com/callback",
      "http://127.0.0.1\\@evil.example.com/callback",
      "http://localhost/a",
    ]) {
      expect([uri, isRegisteredRedirect(registered, uri)]).toEqual([uri, false]);
    }
  });

  it("get the answer beside their own parameters", () => {
    expect(answerUrl("https://a.example/cb?t=1", { code: "x&y", state: null, iss: "https://l.example" })).toBe(
      "https://a.example/cb?t=1&code=x%26y&iss=https%3A%2F%2Fl.example",
    );
    expect(answerUrl("cursor://host/cb", { error: "access_denied", state: "s" })).toBe(
      "cursor://host/cb?error=access_denied&state=s",
    );
  });

  it("are shown as a host, this computer or a scheme", () => {
    const shown = ["https://a.example:8443/cb", "http://[::1]:1/cb", "cursor://x/y"].map(receiverOf);
    expect(shown).toEqual(["a.example:8443", "this computer", "cursor:"]);
  });
});
