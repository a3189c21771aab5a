import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuse } from "../../http/errors.ts";
import { resource } from "../../http/resource.ts";
import { escapeHtml } from "../../mail/layout.ts";
import { type OutboxItem, readOutbox } from "../../mail/mailers.ts";
import { isLoopback } from "../../platform/loopback.ts";
import { publicLimit } from "../guards/address.ts";
import { isBrowser, noStore, plainPage } from "./pages.ts";

/** Routes that exist only if mails are kept instead of sent, which requires a loopback `BASE_URL`. */
export const dev = resource();

dev.route(
  {
    method: "GET",
    path: "/dev/outbox",
    operation: "dev.outbox",
    tag: "Operations",
    summary: "List the captured mails, newest first",
    description:
      "Exists only with MAILER=outbox and under a loopback host name. A request whose `Accept` lists `text/html` gets a page.",
    security: "none",
    status: 200,
    response: z.object({
      items: z.array(
        z.object({
          id: z.string(),
          to: z.string(),
          kind: z.enum(["verify-email", "magic-link", "reset-password", "invite", "notice", "alert"]),
          subject: z.string(),
          text: z.string(),
          html: z.string(),
          links: z.array(z.string()),
          createdAt: z.iso.datetime(),
        }),
      ),
    }),
    errors: ["NOT_FOUND"],
  },
  [publicLimit, noStore],
  async (c) => {
    if (!isLocal(c)) {
      return refuse("NOT_FOUND", "Path not found.");
    }
    const mails = await readOutbox(c.env.DB);
    if (isBrowser(c)) return outboxPage(mails);
    const items = mails.map((mail) => ({ ...mail, createdAt: new Date(mail.createdAt).toISOString() }));
    return success({ items }, c.get("requestId"));
  },
);

/**
 * Whether a request is for a service that runs on this machine for development. DNS rebinding: a foreign page can point
 * its host name at this machine. Under that name it gets nothing.
 */
export function isLocal(c: Context<AppEnv>): boolean {
  return c.get("settings").MAILER === "outbox" && isLoopback(new URL(c.req.url));
}

/** Allows no script: the page shows text that other people typed. */
function outboxPage(mails: readonly OutboxItem[]): Response {
  return plainPage({
    title: "Outbox",
    main: `<h1>Outbox</h1>
<p>The service captures its mails here instead of sending them, newest first. A mail appears after a few seconds; reload the page.</p>
${mails.length > 0 ? mails.map(mailSection).join("\n") : "<section><p>No mail yet.</p></section>"}`,
    headers: { "X-Robots-Tag": "noindex" },
  });
}

function mailSection({ to, subject, createdAt, text, links }: OutboxItem): string {
  const time = new Date(createdAt).toISOString();
  // Each link in a mail is on a separate line.
  const lineOf = (line: string): string => {
    const shown = escapeHtml(line);
    return links.includes(line) && /^https?:/.test(line) ? `<a href="${shown}">${shown}</a>` : shown;
  };
  const paragraphs = text.trim().split("\n\n");
  return `<section>
<h2>${escapeHtml(subject)}</h2>
<p>To ${escapeHtml(to)}, <time datetime="${time}">${time.slice(0, 19).replace("T", " ")} UTC</time></p>
${paragraphs.map((each) => `<p>${each.split("\n").map(lineOf).join("<br>")}</p>`).join("\n")}
</section>`;
}
