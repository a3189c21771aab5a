import { afterEach, describe, expect, it, vi } from "vitest";
import { openPage } from "./browser.ts";

afterEach(() => vi.unstubAllGlobals());

interface Sent {
  path: string;
  body: unknown;
}

/** The service, answering every call with this; what it was sent. */
function service(data: object | null, error: object | null = null): Sent[] {
  const sent: Sent[] = [];
  vi.stubGlobal("fetch", async (path: string, { body }: { body: string }) => {
    sent.push({ path, body: JSON.parse(body) });
    return { json: async () => ({ success: error === null, data, error }) };
  });
  return sent;
}

const LINKS = [
  ["verify-email", "/auth/verify", "/auth/verify-email", { verified: true }, "Your address is confirmed"],
  [
    "magic-link",
    "/auth/magic",
    "/auth/magic-link/verify",
    { user: { email: "ada@example.com" }, accessToken: "eyJ", isNewUser: true },
    "Welcome to Taffrail",
  ],
  ["reset-password", "/auth/reset", "/auth/reset-password", { reset: true }, "Your new password is set"],
] as const;

describe("the page behind a mailed link", () => {
  it.each(LINKS)("%s sends its token on a click alone, and keeps it out of the address", async (kind, ...rest) => {
    const [path, api, data, title] = rest;
    const sent = service(data);
    for (const address of [`${path}#token=vt_one`, `${api}?token=vt_one`]) {
      const page = await openPage(kind, address);
      expect(page.address()).toBe(address.split(/[#?]/)[0]);
      expect(sent).toEqual([]);
      page.password.value = "a new password";
      await page.form.dispatch("submit");
      const body = kind === "reset-password" ? { token: "vt_one", password: "a new password" } : { token: "vt_one" };
      expect(sent.splice(0)).toEqual([{ path: api, body }]);
      await vi.waitFor(() => expect(page.heading.textContent).toBe(title));
      expect([page.title(), page.heading.focused, page.form.hidden]).toEqual([`${title} · Taffrail`, true, true]);
    }
  });

  it("says who was signed in, and copies the token on a click", async () => {
    service({ user: { email: "ada@example.com" }, accessToken: "eyJ.token", isNewUser: false });
    const page = await openPage("magic-link", "/auth/magic#token=vt_one");
    await page.form.dispatch("submit");
    await vi.waitFor(() => expect(page.heading.textContent).toBe("You are signed in"));
    expect(page.text()).not.toContain("eyJ.token");
    await page.result.children[1]?.dispatch("click");
    expect(page.copied).toEqual(["eyJ.token"]);
    expect(page.text()).toBe("Signed in as ada@example.com. | Copied");
  });

  it("'this was not me' sends the same token elsewhere", async () => {
    const sent = service({ rejected: true });
    const page = await openPage("verify-email", "/auth/verify#token=vt_one");
    await page.reject.dispatch("click");
    expect(sent).toEqual([{ path: "/auth/verify-email/reject", body: { token: "vt_one" } }]);
    await vi.waitFor(() => expect(page.heading.textContent).toBe("Thank you"));
  });

  it("begins anew with a second link in the same tab", async () => {
    const page = await openPage("verify-email", "/auth/verify#token=vt_one");
    expect(page.reloads()).toBe(0);
    page.changeHash();
    expect(page.reloads()).toBe(1);
  });

  it("without a token says so, and offers nothing to click", async () => {
    for (const address of ["/auth/verify", "/auth/verify#token=", "/auth/verify#other=1"]) {
      const page = await openPage("verify-email", address);
      expect([page.heading.textContent, page.form.hidden]).toEqual(["This link is incomplete", true]);
    }
  });

  it.each([
    ["INVALID_TOKEN", "This link is not valid"],
    ["TOKEN_EXPIRED", "This link has expired"],
  ])("%s ends it", async (code, title) => {
    service(null, { code, message: "ours" });
    const page = await openPage("reset-password", "/auth/reset#token=vt_one");
    await page.form.dispatch("submit");
    await vi.waitFor(() => expect(page.heading.textContent).toBe(title));
    expect([page.form.hidden, page.result.children[0]?.className]).toEqual([true, "error"]);
  });

  it("anything else can be tried again, and is said in words", async () => {
    const page = await openPage("verify-email", "/auth/verify#token=vt_one");
    const details = [{ path: "password", code: "custom", message: "must have at least 8 characters" }];
    const cases = [
      [{ code: "VALIDATION_ERROR", message: "password: no", details }, "The password must have at least 8 characters."],
      [{ code: "WEAK_PASSWORD", message: "This password is common." }, "This password is common."],
      [
        { code: "RATE_LIMITED", message: "Too many requests" },
        "Too many tries just now. Wait a minute, then try again.",
      ],
      [{ code: "constructor", message: "Odd." }, "Odd."],
    ] as const;
    for (const [error, text] of cases) {
      service(null, error);
      await page.form.dispatch("submit");
      await vi.waitFor(() => expect(page.text()).toBe(text));
      expect([page.form.hidden, page.reject.disabled]).toEqual([false, false]);
    }
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("offline")));
    await page.form.dispatch("submit");
    await vi.waitFor(() => expect(page.text()).toBe("The service could not be reached. Try again."));
  });
});

describe("the page of an invitation", () => {
  it("says what it takes to accept it, and copies the token", async () => {
    const page = await openPage("invitation", "/auth/invitation#token=vt_invite");
    expect([page.heading.textContent, page.address()]).toEqual(["You are invited", "/auth/invitation"]);
    expect(page.text()).not.toContain("vt_invite");
    await page.result.children[1]?.dispatch("click");
    expect(page.copied).toEqual(["vt_invite"]);
    page.changeHash();
    expect(page.reloads()).toBe(1);
  });

  it("without a token says so", async () => {
    const page = await openPage("invitation", "/auth/invitation");
    expect([page.heading.textContent, page.result.children.length]).toEqual(["This link is incomplete", 1]);
  });
});

describe("the page where a provider's sign-in ends", () => {
  const opened = (query: string) => openPage("callback", `/auth/callback${query}`);

  it.each([
    ["?accessToken=eyJ&refreshToken=rt_1&isNewUser=true", "Welcome to Taffrail", ["eyJ", "rt_1"]],
    ["?accessToken=eyJ&refreshToken=rt_1&isNewUser=false", "You are signed in", ["eyJ", "rt_1"]],
    ["?linked=provider_a", "Linked", []],
    ["?linkCode=link-1", "One more step", ["link-1"]],
    ["?code=code-1", "One more step", ["code-1"]],
    ["?error=OAUTH_ACCESS_DENIED", "That did not work", []],
    ["?error=__proto__", "That did not work", []],
    ["", "There is nothing here", []],
  ])("%s: says what came of it, shows no secret and leaves none in the address", async (query, title, secrets) => {
    const page = await opened(query);
    expect([page.heading.textContent, page.address()]).toEqual([title, "/auth/callback"]);
    const text = page.text();
    expect(text).not.toMatch(/eyJ|rt_1|link-1|code-1|undefined|object/);
    for (const button of page.result.children.slice(1)) await button.dispatch("click");
    expect(page.copied).toEqual(secrets);
  });
});
