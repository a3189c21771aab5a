import { after, type NextRequest, NextResponse } from "next/server";
import { withTaffrail } from "taffrail/next";
import { logger } from "@/lib/logger";

export const GET = withTaffrail(
  logger,
  async (request: NextRequest, { params }: { params: Promise<{ id: string }> }) => {
    const { id } = await params;
    logger.info("Order looked up", { id, fields: request.nextUrl.searchParams.get("fields") });
    return NextResponse.json({ id, state: "shipped" });
  },
  { waitUntil: after },
);

export const POST = withTaffrail(logger, () => {
  throw new Error("The order cannot be changed.");
});
