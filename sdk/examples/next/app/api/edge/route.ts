import { after } from "next/server";
import { withTaffrail } from "taffrail/next";
import { logger } from "@/lib/logger";

export const runtime = "edge";

export const GET = withTaffrail(
  logger,
  () => {
    logger.info("On the edge");
    return Response.json({ runtime: process.env.NEXT_RUNTIME });
  },
  { waitUntil: after },
);
