import assert from "node:assert/strict";
import { Key } from "selenium-webdriver";
import { startAgentProgram } from "../../e2e/support/agent-program.ts";
import { call } from "../../support/api.ts";
import { nextMail } from "../../support/outbox.ts";
import { accessible, type Flow, PASSWORD, signIn, signOut } from "../trip.ts";

/** One's own account, and those who have access by it. */
export const OWN_ACCOUNT_FLOWS: readonly Flow[] = [
  {
    name: "account",
    async run(trip) {
      const { page } = trip;
      const { status } = await call(trip.url, "/auth/login", { body: { email: trip.email, password: PASSWORD } });
      assert.equal(status, 200);
      await page.goto("/auth/account");
      await page.text("Confirmed");
      await page.click("button", "Show sessions");
      await page.click("button", "End all other sessions");
      await page.click("button", "End sessions");
      await page.text("No other sessions.");
      await page.click("button", "Show activity");
      await page.role("list", "Activity, newest first");
    },
  },
  {
    name: "password changed",
    async run(trip) {
      const { page } = trip;
      await page.goto("/auth/account");
      await page.click("button", "Change password");
      const dialog = await page.role("dialog");
      await page.fill(await page.label("Current password", dialog), "not the password");
      await page.fill(await page.label("New password", dialog), PASSWORD);
      await page.click("button", "Save password", dialog);
      await page.text("The current password is wrong.");
      await accessible(trip);
      await page.fill(await page.label("Current password", dialog), PASSWORD);
      await page.click("button", "Save password", dialog);
      await page.text("Password saved. All other sessions ended.");
    },
  },
  {
    name: "account reviewed",
    async run({ page }) {
      await page.goto("/auth/review");
      await page.role("heading", "Review your account");
      await page.text("Set a new password");
      await page.role("heading", "API keys");
      await page.role("list", "API keys made in the last 30 days");
    },
  },
  {
    name: "password forgotten",
    async run(trip) {
      const { page } = trip;
      await signOut(trip);
      await page.goto("/login");
      await page.click("link", "Forgot password?");
      await page.role("heading", "Set a new password");
      await page.fill(await page.label("E-mail address"), trip.email);
      await page.click("button", "Mail me a link");
      await page.role("heading", "Check your e-mail");
      await accessible(trip);
      const { links } = await nextMail(trip.url, trip.email, "reset-password");
      await page.goto(links[0] ?? "");
      await page.fill(await page.label("New password"), PASSWORD);
      await page.click("button", "Set password");
      await page.role("heading", "Password saved");
      await accessible(trip);
      await signIn(trip, trip.email);
    },
  },
  {
    name: "sign-in by keyboard alone",
    async run(trip) {
      const { page } = trip;
      await signOut(trip);
      await page.goto("/login");
      await page.label("Password");
      await page.tabTo("E-mail address");
      await page.press(trip.email);
      await page.tabTo("Password");
      await page.press("a wrong one", Key.ENTER);
      await page.text("The e-mail address or the password is wrong.");
      await accessible(trip);
      await page.goto("/login");
      await page.label("Password");
      await page.tabTo("E-mail address");
      await page.press(trip.email);
      await page.tabTo("Password");
      await page.press(PASSWORD, Key.ENTER);
      await page.role("button", "Sign out");
    },
  },
  {
    name: "incomplete links",
    async run(trip) {
      const { page } = trip;
      for (const path of ["/auth/verify", "/auth/magic#token=", "/auth/reset"]) {
        await page.goto(path);
        await page.role("heading", "This link is incomplete");
        await accessible(trip);
      }
      await page.goto("/auth/callback?error=OAUTH_ACCESS_DENIED");
      await page.text(/^Access was denied at the provider/);
    },
  },
  {
    name: "access of an agent",
    async run(trip) {
      const { page } = trip;
      const program = await startAgentProgram(trip.url);
      try {
        const asked = await program.authorization();
        await page.goto(asked.url);
        await page.role("heading", "Allow access");
        await page.text("Night agent");
        await (await page.label("Selected")).click();
        await (await page.label("shop")).click();
        await (await page.label(/^Save views/)).click();
        await accessible(trip);
        await page.click("button", "Allow");
        const answer = await page.until("the answer", async () => program.answers[0]);
        assert.ok(answer !== undefined);
        const { scope } = await program.exchange(answer, asked);
        assert.equal(scope, "logs:read views:write");
      } finally {
        program.close();
      }
      await page.goto(`/w/${trip.workspaceId}/settings/agents`);
      await page.role("button", "End access of Night agent");
      await accessible(trip);
      await page.goto("/auth/account");
      await page.click("button", "End access of Night agent");
      await page.text("No agent has access.");
    },
  },
  {
    name: "account deleted",
    async run(trip) {
      const { page } = trip;
      const guest = `guest-${trip.email}`;
      await signOut(trip);
      await signIn(trip, guest);
      await page.goto("/auth/account");
      await page.click("button", "Delete account …");
      const dialog = await page.role("dialog");
      await page.fill(await page.label("Password", dialog), PASSWORD);
      await page.fill(await page.label("Type the account's e-mail address", dialog), guest);
      await accessible(trip);
      await page.click("button", "Delete account", dialog);
      await page.text("Account deleted.");
      await page.role("link", "Sign in");
      await signIn(trip, trip.email);
    },
  },
];
