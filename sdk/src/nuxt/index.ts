import type { CaptureOptions } from "../capture/options.ts";
import type { LogLevel } from "../types.ts";

/** What may stand under `taffrail` in `nuxt.config.ts`: only what can be written down as JSON. */
export interface TaffrailNuxtOptions {
  apiUrl?: string;
  projectId?: string;
  /** Better in the environment: `NUXT_TAFFRAIL_API_KEY`. Never sent to browsers. */
  apiKey?: string;
  level?: LogLevel;
  defaultMeta?: Record<string, unknown>;
  /** Paths as text; patterns need a plugin of one's own with `createNitroPlugin`. */
  capture?: CaptureOptions;
}

/** What this module uses of Nuxt. */
interface Nuxt {
  options: { taffrail?: TaffrailNuxtOptions; runtimeConfig: Record<string, unknown> };
  hook(name: "nitro:init", listener: (nitro: Nitro) => void): unknown;
}

interface Nitro {
  options: { plugins: string[]; virtual: Record<string, string | (() => string)> };
}

const PLUGIN = "#taffrail/plugin";

/** Nitro's own modules are named as they are, so that the module needs none of Nuxt's packages. */
const CODE = `
import { useRuntimeConfig } from "nitropack/runtime";
import { createNitroPlugin } from "taffrail/nuxt/nitro";
export default (nitroApp) => createNitroPlugin(useRuntimeConfig().taffrail)(nitroApp);
`;

/**
 * The module for Nuxt 3 and 4: `modules: ["taffrail/nuxt"]`. Every option can be set by the environment too, as
 * `NUXT_TAFFRAIL_API_URL`, `NUXT_TAFFRAIL_PROJECT_ID`, `NUXT_TAFFRAIL_API_KEY`.
 */
export default function taffrail(inline: TaffrailNuxtOptions, nuxt: Nuxt): void {
  const { options } = nuxt;
  // Members that are not there could not be set by the environment.
  const defaults = { apiUrl: "", projectId: "", apiKey: "", level: "info" };
  options.runtimeConfig.taffrail = { ...defaults, ...options.taffrail, ...inline };
  // Not before: Nitro takes the names of plugins it is configured with for paths.
  nuxt.hook("nitro:init", (nitro) => {
    nitro.options.virtual[PLUGIN] = CODE;
    nitro.options.plugins.unshift(PLUGIN);
  });
}
