import { z } from "zod";
import { success } from "../../http/envelope.ts";
import { refuse } from "../../http/errors.ts";
import { resource } from "../../http/resource.ts";
import { readOutbox } from "../../mail/mailers.ts";
import { publicLimit } from "../guards/address.ts";
import { consoleHtml } from "./console.ts";
import { isLocal } from "./local.ts";
import { isBrowser, noStore } from "./pages.ts";

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
      "Exists only with MAILER=outbox and under a loopback host name. A request whose `Accept` lists `text/html` gets a page of the console.",
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
    if (isBrowser(c)) return (await consoleHtml(c)) ?? refuse("NOT_FOUND", "Path not found.");
    const mails = await readOutbox(c.env.DB);
    const items = mails.map((mail) => ({ ...mail, createdAt: new Date(mail.createdAt).toISOString() }));
    return success({ items }, c.get("requestId"));
  },
);
