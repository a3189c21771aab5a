import { z } from "zod";
import { success } from "../http/envelope.ts";
import { refuse } from "../http/errors.ts";
import { isLoopback } from "../http/loopback.ts";
import { resource } from "../http/resource.ts";
import { readOutbox } from "../mail/outbox.ts";
import { publicLimit } from "./address-limits.ts";

/** What exists only where mails are kept instead of sent: on one's own machine. */
export const dev = resource();

dev.route(
  {
    method: "GET",
    path: "/dev/outbox",
    operation: "dev.outbox",
    tag: "Operations",
    summary: "The mails that would have been sent, newest first",
    description: "Only with MAILER=outbox, and only under a loopback name.",
    security: "none",
    status: 200,
    response: z.object({
      items: z.array(
        z.object({
          id: z.string(),
          to: z.string(),
          kind: z.enum(["verify-email", "magic-link", "reset-password", "invite", "notice"]),
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
  [publicLimit],
  async (c) => {
    // A page elsewhere can point its own name at this machine; under that name it gets nothing.
    if (c.get("settings").MAILER !== "outbox" || !isLoopback(new URL(c.req.url))) {
      return refuse("NOT_FOUND", "There is nothing at this path.");
    }
    const items = (await readOutbox(c.env.DB)).map((item) => ({
      ...item,
      createdAt: new Date(item.createdAt).toISOString(),
    }));
    const response = success({ items }, c.get("requestId"));
    response.headers.set("Cache-Control", "no-store");
    return response;
  },
);
