import type { CaptureOptions } from "../capture/options.ts";
import type { LogLevel } from "../types.ts";

/** Options under `taffrail` in `nuxt.config.ts`. All values can be represented as JSON. */
export interface TaffrailNuxtOptions {
  /**
   * URL of the service.
   * @default process.env.NUXT_TAFFRAIL_API_URL
   */
  apiUrl?: string;
  /**
   * Project that receives the entries.
   * @default process.env.NUXT_TAFFRAIL_PROJECT_ID
   */
  projectId?: string;
  /**
   * An API key with the scope `logs:write`. Prefer the environment variable. Never sent to browsers.
   * @default process.env.NUXT_TAFFRAIL_API_KEY
   */
  apiKey?: string;
  /**
   * The lowest level that is logged.
   * @default "info"
   */
  level?: LogLevel;
  /**
   * Fields of every entry.
   * @default {}
   */
  defaultMeta?: Record<string, unknown>;
  /**
   * What is captured of requests. Paths are strings here; patterns need a custom plugin with `createNitroPlugin`.
   * @default {}
   */
  capture?: CaptureOptions;
}

/** The part of Nuxt that this module uses. */
interface Nuxt {
  options: { taffrail?: TaffrailNuxtOptions; runtimeConfig: Record<string, unknown> };
  hook(name: "nitro:init", listener: (nitro: Nitro) => void): unknown;
}

interface Nitro {
  options: { plugins: string[]; virtual: Record<string, string | (() => string)> };
}

const PLUGIN = "#taffrail/plugin";

/** Imports Nitro's modules by name, so that this module does not depend on Nuxt's packages. */
const CODE = `
import { useRuntimeConfig } from "nitropack/runtime";
import { createNitroPlugin } from "taffrail/nuxt/nitro";
export default (nitroApp) => createNitroPlugin(useRuntimeConfig().taffrail)(nitroApp);
`;

/**
 * The module for Nuxt 3 and 4, which captures requests of the server. The options that are plain values can also be set
 * by the environment, like `NUXT_TAFFRAIL_API_URL` and `NUXT_TAFFRAIL_LEVEL`.
 * @example
 * // nuxt.config.ts
 * export default defineNuxtConfig({
 *   modules: ["taffrail/nuxt"],
 *   taffrail: { level: "debug", capture: { excludePaths: ["/health"] } },
 * });
 */
export default function taffrail(inline: TaffrailNuxtOptions, nuxt: Nuxt): void {
  const { options } = nuxt;
  // Nuxt sets only members that exist in the configuration from the environment.
  const defaults = { apiUrl: "", projectId: "", apiKey: "", level: "info" };
  options.runtimeConfig.taffrail = { ...defaults, ...options.taffrail, ...inline };
  // Added in the hook, because Nitro resolves the plugins of its configuration as paths.
  nuxt.hook("nitro:init", (nitro) => {
    nitro.options.virtual[PLUGIN] = CODE;
    nitro.options.plugins.unshift(PLUGIN);
  });
}
