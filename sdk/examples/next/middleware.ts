import { type NextFetchEvent, type NextRequest, NextResponse } from "next/server";
import { logger } from "./lib/edge-logger";

export const config = { matcher: "/api/:path*" };

export function middleware(request: NextRequest, event: NextFetchEvent) {
  logger.info("Middleware", { path: request.nextUrl.pathname });
  // Timers end with the response.
  event.waitUntil(logger.flush());
  return NextResponse.next();
}
