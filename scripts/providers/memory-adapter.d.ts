/** The package's own store without its warning that it is not for production: nothing here is. */
declare module "oidc-provider/lib/adapters/memory_adapter.js" {
  import type { AdapterFactory } from "oidc-provider";
  export function createMemoryAdapter(): AdapterFactory;
}
