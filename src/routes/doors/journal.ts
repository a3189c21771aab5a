import { z } from "zod";
import { JournalDecoder } from "../../doors/journal.ts";
import { finishAfterDisconnect } from "../../http/context.ts";
import type { Resource } from "../../http/resource.ts";
import { answerLikeDoor, DOOR_ERRORS } from "./door.ts";
import { asText } from "./lines.ts";
import { type Resumed, serveResumed } from "./resumed-upload.ts";

const EXPORTED = "__REALTIME_TIMESTAMP=1795183200123456\n_HOSTNAME=web-1\nPRIORITY=3\nMESSAGE=Payment failed\n\n";

/**
 * `systemd-journal-upload` sends everything behind the last acknowledged entry in one request: on the first day the whole
 * journal, and after a failure all of it again, with what was added meanwhile, from the last acknowledged entry on.
 */
const UPLOAD: Resumed = {
  operation: "door.journal",
  // systemd keeps at most 4 GB.
  bodyBytes: 4 * 1024 ** 3,
  decoder: (sink, meter, { reader }) => new JournalDecoder(sink, meter, reader),
  idOf: ({ data: { __CURSOR: cursor } }) => (typeof cursor === "string" ? cursor : null),
  beginsWithLast: true,
};

/** Adds the door of `systemd-journal-upload`, which appends `/upload` to the URL of its settings. */
export function addJournal(resource: Resource): void {
  for (const path of ["/journal/upload", "/upload"]) {
    resource.route(
      {
        method: "POST",
        path,
        operation: UPLOAD.operation,
        tag: "Doors",
        summary: "Upload a systemd journal",
        description: [
          "The Journal Export Format, as `systemd-journal-upload --url=https://journal:<key>@<host>/journal` sends it, of any length. Entries are",
          "stored in parts while they arrive. The cursors of the entries make retries safe for 24 hours.",
        ].join("\n"),
        security: "apiKey",
        documentedBody: { "application/vnd.fdo.journal": { schema: z.string(), example: EXPORTED } },
        status: 200,
        documentedResponse: { "text/plain": { schema: z.string(), example: "OK.\n" } },
        errors: DOOR_ERRORS,
        isForeign: true,
      },
      [],
      (c) => {
        answerLikeDoor(c, { failure: asText });
        return finishAfterDisconnect(
          c,
          serveResumed(c, UPLOAD).then(() => new Response("OK.\n")),
        );
      },
    );
  }
}
