import { Ellipsis, X } from "lucide";
import { useState } from "preact/hooks";
import { visible } from "../../../lib/visible.ts";
import { Button } from "../../../ui/button.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { Icon } from "../../../ui/icon.tsx";
import type { DataCondition, Scalar } from "../filters.ts";
import { writePath } from "./data-path.ts";
import css from "./json-tree.module.css";

interface ActionsProps {
  names: readonly string[];
  value: Scalar | object;
  filter: (names: readonly string[], condition: DataCondition) => void;
}

/** Further actions of a value, behind one small button to keep the tree readable. */
export function ValueActions({ names, value, filter }: ActionsProps) {
  const [isOpen, setOpen] = useState(false);
  const path = writePath(names);
  return (
    <span class={css.actions}>
      <button
        type="button"
        class={css.more}
        aria-expanded={isOpen}
        aria-label={`More for ${visible(path)}`}
        title="More"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon shape={isOpen ? X : Ellipsis} size={14} />
      </button>
      {isOpen ? (
        <>
          {typeof value === "object" && value !== null ? null : (
            <Button small onClick={() => filter(names, { ne: value })}>
              Exclude
            </Button>
          )}
          <Button small onClick={() => filter(names, { exists: true })}>
            Exists
          </Button>
          <Copy text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} label="Copy value" />
          <Copy text={path} label="Copy path" />
        </>
      ) : null}
    </span>
  );
}
