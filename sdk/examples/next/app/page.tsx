import { logger } from "@/lib/logger";
import { Cart } from "./cart";

export const dynamic = "force-dynamic";

export default function Page() {
  logger.info("Page rendered");
  return <Cart />;
}
