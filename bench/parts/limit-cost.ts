import { call } from "../../test/support/api.ts";
import type { LoadGenerator } from "../load/generator.ts";
import type { BenchOptions } from "../options.ts";
import type { BenchServer, Workshop } from "../servers.ts";
import { type BenchTenant, newTenant, storedEntries } from "../tenant.ts";
import { type Contender, compare, type Figures } from "./contender.ts";

const CONNECTIONS = 16;
/** The maximum number of rules of a workspace. */
const RULES = 100;

const NAMES = { off: "limits switched off", default: "a default limit", rules: `${RULES} rules` } as const;
type Setting = keyof typeof NAMES;
const SETTINGS: readonly Setting[] = ["off", "default", "rules"];

export interface LimitCostRow extends Figures {
  name: string;
  /** CPU time of a request relative to one with limits switched off: the median of the rounds' ratios. */
  cpuRatio: number | null;
}

/** The cost of exact limits for an admitted request of one entry, the cheapest one, compared with no limits. */
export async function benchLimitCost(
  workshop: Workshop,
  generator: LoadGenerator,
  options: BenchOptions,
): Promise<LimitCostRow[]> {
  const unlimited = await workshop.startService(await workshop.bundle("unlimited", "service"));
  const service = await workshop.startService();
  const contenders = SETTINGS.map((setting) => contenderOf(setting === "off" ? unlimited : service, setting));
  const { figures, cpuRatios } = await compare(generator, contenders, { ...options, connections: CONNECTIONS });
  await service.stop();
  await unlimited.stop();
  return figures.map((own, at) => ({
    name: contenders[at]?.name ?? "",
    ...own,
    cpuRatio: cpuRatios[at] ?? null,
  }));
}

function contenderOf({ url, pid }: BenchServer, setting: Setting): Contender {
  const common = { origin: url, idempotent: false, batch: 1, serverPid: pid, expectedStatus: 201 };
  return {
    name: NAMES[setting],
    async prepare() {
      const tenant = await newTenant(url, 1);
      const [{ id, key } = { id: "", key: "" }] = tenant.projects;
      if (setting === "rules") await setRules(url, tenant, id);
      const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
      return {
        load: { ...common, path: `/logger/${id}/log`, headers },
        stored: () => storedEntries(url, tenant, id),
        async end() {},
      };
    },
  };
}

/** Rules for other projects, and as the last one the rule that matches the requests. */
async function setRules(url: string, { workspaceId, accessToken }: BenchTenant, projectId: string): Promise<void> {
  const others = Array.from({ length: RULES - 1 }, (_, at) => `proj_${String(at).padStart(12, "0")}`);
  const rules = [...others, projectId].map((id) => ({ method: "*", path: `/logger/${id}/log`, limit: 1_000_000 }));
  const answer = await call(url, `/workspaces/${workspaceId}/rate-limits`, {
    method: "PUT",
    token: accessToken,
    body: { rules },
  });
  if (answer.status !== 200) throw new Error(`The rules could not be set: ${answer.status}`);
}
