import type { ComponentChildren } from "preact";
import { type KeyState, keyState } from "../../../model/key-state.ts";
import type { ApiKey } from "../../../model/types.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Item, Items } from "../../../ui/items.tsx";
import { Time } from "../../../ui/time.tsx";

const TONE: Record<KeyState, "good" | "warn" | "bad"> = {
  active: "good",
  "ends soon": "warn",
  expired: "bad",
  deleted: "bad",
};

interface KeyListProps {
  label: string;
  keys: readonly ApiKey[];
  /** Id of the sentence that explains why the buttons are disabled; undefined if they are enabled. */
  describedBy?: string | undefined;
  /** All or none: keys that have ended have no buttons. */
  onSettings?: (key: ApiKey) => void;
  onRotate?: (key: ApiKey) => void;
  onDelete?: (key: ApiKey) => void;
  /** Who deleted a key; absent if none is deleted. */
  deletedBy?: (key: ApiKey) => ComponentChildren;
}

export function KeyList({ label, keys, describedBy, onSettings, onRotate, onDelete, deletedBy }: KeyListProps) {
  const now = Date.now();
  const locked = { small: true, disabled: describedBy !== undefined, "aria-describedby": describedBy };
  return (
    <Items label={label}>
      {keys.map((key) => {
        const state = keyState(key, now);
        return (
          <Item
            key={key.id}
            title={
              <>
                {key.name}
                <code>{key.prefix}…</code>
                <Badge tone={TONE[state]}>{state}</Badge>
              </>
            }
            facts={[
              ["Scopes", key.scopes.join(", ")],
              ["Created", <Time at={key.createdAt} />],
              key.revokedAt === null
                ? ["Expires", key.expiresAt === null ? "never" : <Time at={key.expiresAt} />]
                : ["Deleted", <Time at={key.revokedAt} />],
              key.revokedAt === null || deletedBy === undefined ? null : ["Deleted by", deletedBy(key)],
              key.dedupe === "auto" ? null : ["Repeated requests", key.dedupe],
              Object.keys(key.mapping).length === 0 ? null : ["Mapped", Object.keys(key.mapping).join(", ")],
              ["Last used", key.lastUsedAt === null ? "never" : <Time at={key.lastUsedAt} />],
            ]}
            actions={
              onSettings && onRotate && onDelete ? (
                <>
                  <Button {...locked} onClick={() => onSettings(key)}>
                    Settings<span class="visually-hidden"> of {key.name}</span>
                  </Button>
                  <Button {...locked} onClick={() => onRotate(key)}>
                    Rotate<span class="visually-hidden"> {key.name}</span>
                  </Button>
                  <Button {...locked} look="danger" onClick={() => onDelete(key)}>
                    Delete<span class="visually-hidden"> {key.name}</span>
                  </Button>
                </>
              ) : null
            }
          />
        );
      })}
    </Items>
  );
}
