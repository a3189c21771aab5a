import type { TaffrailNuxtOptions } from "taffrail/nuxt";

/** The key comes from the environment: `NUXT_TAFFRAIL_API_KEY=sk_... nuxt dev`. */
const taffrail: TaffrailNuxtOptions = {
  apiUrl: "http://127.0.0.1:8787",
  projectId: "proj_replace_me",
  defaultMeta: { service: "shop" },
};

export default { modules: ["taffrail/nuxt"], taffrail };
