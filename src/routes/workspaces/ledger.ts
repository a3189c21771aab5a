import { z } from "zod";
import { success } from "../../http/envelope.ts";
import { pageOf, pageQuery, refuseCursor } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { timeParameter } from "../../logs/ingest/timestamp.ts";
import { LEDGER_KINDS, type LedgerItem, LOST_REASONS } from "../../workspace/ledger-page.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const ledgerQuery = pageQuery.extend({
  from: timeParameter.optional().describe("At or after this; default: a day before `to`."),
  to: timeParameter.optional().describe("Before this; default: now."),
  kind: z.enum(LEDGER_KINDS).optional().describe("Only counts, or only gaps."),
});

const itemSchema = z.object({
  at: z.iso.datetime().describe("Beginning of the hour of a count; when a gap was noticed."),
  reason: z
    .enum(LOST_REASONS)
    .describe(
      "`merged`: sent again and stored once. `rejected`: not valid. `limited`: the rate limit was used up; most clients send these again. `full`: the storage was full. Of clients of the library: `queue-full`, `closed`: dropped before they were sent; `retries`, `too-large`, `rejected`, `unknown`: numbers that never arrived.",
    ),
  entries: z.int(),
  keyId: z.string(),
  requests: z.int().nullable().describe("Requests of a count; `null` for a gap."),
  gap: z
    .object({
      stream: z.string().describe("The process of the client."),
      first: z.int().describe("Number of the first missing entry in the stream."),
      beforeSeq: z.int().describe("`seq` of the first entry that was stored after the gap."),
      open: z.boolean().describe("Whether a late request can still fill it."),
    })
    .nullable(),
});

function itemData({ at, gap, ...item }: LedgerItem): z.output<typeof itemSchema> {
  const { isOpen: open, ...place } = gap ?? { isOpen: false, stream: "", first: 0, beforeSeq: 0 };
  return { at: new Date(at).toISOString(), ...item, gap: gap === null ? null : { ...place, open } };
}

export const ledger = resource();

ledger.route(
  {
    method: "GET",
    path: "/projects/:projectId/ledger",
    operation: "ledger.list",
    tag: "Projects",
    summary: "List entries that are missing",
    description: [
      "Entries that should be in the project and are not, newest first, for 30 days: counts by hour, key and reason, and gaps in the streams of",
      "clients. The client library numbers its entries (header `Taffrail-Stream`), so what never arrived is known, too. A gap may be filled by a late",
      "request while it is open. Entries that a client leaves out by sampling are not missing.",
    ].join("\n"),
    security: "accessToken",
    query: ledgerQuery,
    status: 200,
    response: pageOf(itemSchema),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "ledger.list", from: "header" })],
  async (c, { query: { cursor, limit, from, to, kind } }) => {
    const until = to ?? Date.now();
    const span = { from: from ?? until - DAY_MS, to: until, kind };
    const page = await manage(c, "ledger", c.req.param("projectId") ?? "", span, cursor ?? null, limit);
    if (page === null) return refuseCursor();
    return success({ items: page.items.map(itemData), nextCursor: page.next }, c.get("requestId"));
  },
);
