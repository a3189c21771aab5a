import { nextMail } from "../../support/outbox.ts";
import { accessible, type Flow, PASSWORD, ROWS, signIn, signOut } from "../trip.ts";

/** Invitations and the ways to sign in. */
export const ACCOUNT_FLOWS: readonly Flow[] = [
  {
    name: "invitation",
    async run(trip) {
      const { page } = trip;
      const guest = `guest-${trip.email}`;
      await page.goto(`/w/${trip.workspaceId}/settings/members`);
      await page.fill(await page.label("E-mail address"), guest);
      await page.choose(await page.role("combobox", "Role"), /^viewer/);
      await page.click("button", "Invite");
      await page.role("button", `Withdraw invitation of ${guest}`);
      const { links } = await nextMail(trip.url, guest, "invite");
      await signOut(trip);
      await page.goto(links[0] ?? "");
      await page.role("heading", "You are invited to a workspace");
      await page.click("link", "Create account");
      await page.role("heading", "Create an account");
      const address = await page.label("E-mail address");
      await page.until("the invited address", async () => (await page.value(address)) === guest);
      await page.fill(await page.label("Password"), PASSWORD);
      await page.click("button", "Create account");
      await page.click("button", "Accept");
      await page.text(/^Joined /);
      await page.address("the workspace", ({ pathname }) => pathname === `/w/${trip.workspaceId}`);
      await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
      await page.goto(links[0] ?? "");
      await page.role("heading", "This invitation does not work");
      await signOut(trip);
      await signIn(trip, trip.email);
      await page.goto(`/w/${trip.workspaceId}/settings/members`);
      await page.role("button", `Change role of ${guest}`);
    },
  },
  ...["A", "B"].map(
    (provider): Flow => ({
      name: `sign-in by provider ${provider}`,
      async run(trip) {
        const { page } = trip;
        const continued = new RegExp(`^Continue with provider ${provider}`);
        const email = `${provider.toLowerCase()}-${trip.email}`;
        await signOut(trip);
        await page.goto("/login?next=%2Fauth%2Faccount");
        await page.click("button", continued);
        await page.click("button", "Refuse");
        await page.text(/^Access was denied at the provider/);
        await page.click("link", "Back to the sign-in page");
        await page.click("button", continued);
        await page.address("the provider", ({ origin }) => origin !== new URL(trip.url).origin);
        await page.fill(await page.label("E-mail address"), email);
        await page.click("button", "Sign in");
        await page.text(`Welcome! Account created for ${email}`);
        await page.address("the account", ({ pathname, search }) => pathname === "/auth/account" && search === "");
        await page.text("Linked");
        await signOut(trip);
        await signIn(trip, trip.email);
      },
    }),
  ),
  {
    name: "sign-in by mail",
    async run(trip) {
      const { page } = trip;
      await signOut(trip);
      await page.goto("/login");
      await page.fill(await page.label("E-mail address"), trip.email);
      await page.click("button", "Mail me a sign-in link");
      await page.role("heading", "Check your e-mail");
      const { links } = await nextMail(trip.url, trip.email, "magic-link");
      await page.goto(links[0] ?? "");
      await page.click("button", "Sign in");
      await page.role("button", "Sign out");
    },
  },
  {
    name: "members and a viewer",
    async run(trip) {
      const { page } = trip;
      const guest = `guest-${trip.email}`;
      await page.goto(`/w/${trip.workspaceId}/settings/members`);
      await page.fill(await page.label("E-mail address"), "gone@example.com");
      await page.click("button", "Invite");
      await page.click("button", "Withdraw invitation of gone@example.com");
      await page.click("button", "Withdraw", await page.role("dialog"));
      await page.text("No pending invitations.");
      for (const role of ["member", "viewer"]) {
        await page.click("button", `Change role of ${guest}`);
        const dialog = await page.role("dialog");
        await page.choose(await page.role("combobox", "Role", dialog), new RegExp(`^${role}`));
        await page.click("button", "Change role", dialog);
        await page.gone("dialog", /^Role of/);
      }
      await signOut(trip);
      await signIn(trip, guest);
      const workspace = `/w/${trip.workspaceId}`;
      for (const [path, words] of [
        ["settings/general", /^Changing name and retention requires/],
        ["settings/keys", /^API keys are managed by|requires|^Creating/],
        ["alerts", "Errors of the shop"],
        ["boards", "shop"],
      ] as const) {
        await page.goto(`${workspace}/${path}`);
        await page.text(words);
        await accessible(trip);
      }
      await signOut(trip);
      await signIn(trip, trip.email);
    },
  },
];
