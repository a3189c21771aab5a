import { afterEach, describe, expect, it, vi } from "vitest";
import { openPage } from "./browser.ts";

afterEach(() => vi.unstubAllGlobals());

interface Sent {
  path: string;
  body: unknown;
}

/** A service that answers every call with this response. Returns the requests it received. */
function service(data: object | null, error: object | null = null): Sent[] {
  const sent: Sent[] = [];
  vi.stubGlobal("fetch", async (path: string, { body }: { body: string }) => {
    sent.push({ path, body: JSON.parse(body) });
    return { json: async () => ({ success: error === null, data, error }) };
  });
  return sent;
}

const LINKS = [
  ["verify-email", "/auth/verify-email", { verified: true }, "Your address is confirmed"],
  [
    "magic-link",
    "/auth/magic-link/verify",
    { user: { email: "ada@example.com" }, accessToken: "eyJ", isNewUser: true },
    "Welcome to Taffrail",
  ],
] as const;

describe("the page for a browser that opens a link of the API", () => {
  it.each(LINKS)("%s sends its token on a click only, and removes it from the address", async (kind, ...rest) => {
    const [path, data, title] = rest;
    const sent = service(data);
    const page = await openPage(kind, `${path}?token=vt_one`);
    expect(page.address()).toBe(path);
    expect(sent).toEqual([]);
    await page.form.dispatch("submit");
    expect(sent).toEqual([{ path, body: { token: "vt_one" } }]);
    await vi.waitFor(() => expect(page.heading.textContent).toBe(title));
    expect([page.title(), page.heading.focused, page.form.hidden]).toEqual([`${title} · Taffrail`, true, true]);
  });

  it("names the signed-in user, and copies the token on a click", async () => {
    service({ user: { email: "ada@example.com" }, accessToken: "eyJ.token", isNewUser: false });
    const page = await openPage("magic-link", "/auth/magic-link/verify?token=vt_one");
    await page.form.dispatch("submit");
    await vi.waitFor(() => expect(page.heading.textContent).toBe("You are signed in"));
    expect(page.text()).not.toContain("eyJ.token");
    await page.result.children[1]?.dispatch("click");
    expect(page.copied).toEqual(["eyJ.token"]);
    expect(page.text()).toBe("Signed in as ada@example.com. | Copied");
  });

  it("'this was not me' sends the same token elsewhere", async () => {
    const sent = service({ rejected: true });
    const page = await openPage("verify-email", "/auth/verify-email?token=vt_one");
    await page.reject.dispatch("click");
    expect(sent).toEqual([{ path: "/auth/verify-email/reject", body: { token: "vt_one" } }]);
    await vi.waitFor(() => expect(page.heading.textContent).toBe("Thank you"));
  });

  it("without a token says so, and has no button", async () => {
    for (const address of ["/auth/verify-email", "/auth/verify-email?token=", "/auth/verify-email?other=1"]) {
      const page = await openPage("verify-email", address);
      expect([page.heading.textContent, page.form.hidden]).toEqual(["This link is incomplete", true]);
    }
  });

  it.each([
    ["INVALID_TOKEN", "This link is not valid"],
    ["TOKEN_EXPIRED", "This link has expired"],
  ])("%s is final", async (code, title) => {
    service(null, { code, message: "ours" });
    const page = await openPage("magic-link", "/auth/magic-link/verify?token=vt_one");
    await page.form.dispatch("submit");
    await vi.waitFor(() => expect(page.heading.textContent).toBe(title));
    expect([page.form.hidden, page.result.children[0]?.className]).toEqual([true, "error"]);
  });

  it("other errors can be retried, and are explained in words", async () => {
    const page = await openPage("verify-email", "/auth/verify-email?token=vt_one");
    const cases = [
      [{ code: "RATE_LIMITED", message: "Too many requests" }, "Too many attempts. Wait a minute, then try again."],
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
