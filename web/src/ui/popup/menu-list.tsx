import * as zag from "@zag-js/menu";
import { normalizeProps, useMachine } from "@zag-js/preact";
import { Check } from "lucide";
import { useId } from "preact/hooks";
import { Icon } from "../icon.tsx";
import type { MenuItem } from "../menu.tsx";
import { Layer } from "./layer.tsx";
import css from "./popup.module.css";

export interface MenuListProps {
  triggerId: string;
  items: readonly MenuItem[];
  placement: "bottom-start" | "bottom-end" | "right-end";
  onChoose: (item: MenuItem) => void;
  onClose: () => void;
}

/** The open list of a menu. */
export function MenuList({ triggerId, items, placement, onChoose, onClose }: MenuListProps) {
  const id = useId();
  const service = useMachine(zag.machine, {
    id,
    ids: { trigger: triggerId },
    defaultOpen: true,
    loopFocus: true,
    positioning: { placement, strategy: "fixed", gutter: 4 },
    onSelect: ({ value }) => {
      const item = items[Number(value)];
      if (item) onChoose(item);
    },
    onOpenChange: ({ open }) => {
      if (!open) onClose();
    },
  });
  const api = zag.connect(service, normalizeProps);
  return (
    <Layer positioner={api.getPositionerProps()} focused="[role=menu]">
      <div {...api.getContentProps()} class={css.box}>
        {items.map((item, at) => (
          <MenuRow key={item.id ?? item.label} item={item} at={at} api={api} />
        ))}
      </div>
    </Layer>
  );
}

function MenuRow({ item, at, api }: { item: MenuItem; at: number; api: zag.Api }) {
  const value = String(at);
  const { label, icon, shortcut, isChecked, isDanger = false, isDisabled = false, startsGroup = false } = item;
  const props =
    isChecked === undefined
      ? api.getItemProps({ value, disabled: isDisabled })
      : api.getOptionItemProps({ value, type: "radio", checked: isChecked, disabled: isDisabled });
  return (
    <>
      {startsGroup && at > 0 ? <hr class={css.separator} /> : null}
      <div {...props} class={`${css.option} ${isDanger ? css.danger : ""} ${isChecked ? css.chosen : ""}`}>
        {icon === undefined ? null : (
          <span class={css.sign}>
            <Icon shape={icon} />
          </span>
        )}
        <span class={css.label}>{label}</span>
        {shortcut === undefined ? null : <kbd>{shortcut}</kbd>}
        {isChecked ? (
          <span class={css.sign}>
            <Icon shape={Check} />
          </span>
        ) : null}
      </div>
    </>
  );
}
