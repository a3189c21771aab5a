/** The package's store without its warning against production use, which does not apply here. */
declare module "oidc-provider/lib/adapters/memory_adapter.js" {
  import type { AdapterFactory } from "oidc-provider";
  export function createMemoryAdapter(): AdapterFactory;
}
