"use client";

import { useEffect } from "react";
import { logger } from "@/lib/page-logger";

export function Cart() {
  useEffect(() => logger.info("Cart opened"), []);
  return (
    <button type="button" onClick={() => logger.http.request("Checkout")}>
      Checkout
    </button>
  );
}
