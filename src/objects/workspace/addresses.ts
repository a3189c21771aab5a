import {
  type AddressAnswer,
  type AddressState,
  answerAddress,
  UNKNOWN_ADDRESS_LINK,
} from "../../alerts/notifications/confirmations.ts";
import { type Origin, originOrNew } from "../../platform/origin.ts";
import { ok, type Result } from "../../rpc/result.ts";
import { recordAudit } from "../../workspace/audit.ts";
import { SYSTEM } from "../../workspace/audit-actions.ts";
import type { WorkspaceCore } from "./core.ts";

/** Does what the holder of a mailed link says about notifications to the address. */
export async function answerMailedAddress(
  core: WorkspaceCore,
  tokenHash: Uint8Array,
  answer: AddressAnswer,
  from?: Origin,
): Promise<Result<AddressState>> {
  const now = Date.now();
  const origin = originOrNew(from);
  const done = await core.change(
    origin,
    ({ sql }) => {
      const result = answerAddress(sql, tokenHash, answer, now);
      if (!result.ok || !result.value.hasChanged) return result;
      const { id, email, state } = result.value;
      const entry = { actor: SYSTEM, action: "destination.update", target: id, after: { email, state } } as const;
      recordAudit(sql, entry, origin, now);
      return result;
    },
    (result) => result.ok && result.value.hasChanged,
  );
  if (!done?.ok) return done ?? UNKNOWN_ADDRESS_LINK;
  const { workspace, destination, email, state } = done.value;
  return ok({ workspace, destination, email, state });
}
