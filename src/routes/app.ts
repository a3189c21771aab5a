import { createApp } from "../http/frame.ts";
import { countUnrouted } from "./count-unrouted.ts";
import { health } from "./health.ts";

export const app = createApp({
  resources: [health],
  countUnrouted,
  fallback: async () => null,
});
