import { normalizeProps, useMachine } from "@zag-js/preact";
import * as zag from "@zag-js/select";
import { Check } from "lucide";
import { useId, useMemo } from "preact/hooks";
import { Icon } from "../icon.tsx";
import { Layer } from "./layer.tsx";
import css from "./popup.module.css";

export interface SelectListProps {
  triggerId: string;
  listId: string;
  /** Index of the chosen option; -1 for none. */
  chosen: number;
  options: readonly { label: string; hint?: string | undefined; isNested?: boolean | undefined }[];
  onChoose: (index: number) => void;
  onClose: () => void;
}

/** The open list of a select. */
export function SelectList({ triggerId, listId, chosen, options, onChoose, onClose }: SelectListProps) {
  const id = useId();
  // Options are numbered, because a value may be an empty text, which the machine takes for no value.
  const collection = useMemo(
    () =>
      zag.collection({
        items: options.map((option, at) => ({ ...option, at: String(at) })),
        itemToValue: ({ at }) => at,
        itemToString: ({ label }) => label,
      }),
    [options],
  );
  const current = chosen < 0 ? [] : [String(chosen)];
  const service = useMachine(zag.machine, {
    id,
    ids: { trigger: triggerId, content: listId },
    collection,
    defaultOpen: true,
    defaultValue: current,
    defaultHighlightedValue: current[0] ?? "0",
    positioning: { placement: "bottom-start", strategy: "fixed", gutter: 4, sameWidth: false },
    onValueChange: ({ value: [index] }) => {
      if (index !== undefined) onChoose(Number(index));
    },
    onOpenChange: ({ open }) => {
      if (!open) onClose();
    },
  });
  const api = zag.connect(service, normalizeProps);
  return (
    <Layer positioner={api.getPositionerProps()} focused="[role=listbox]">
      <div {...api.getContentProps()} role="listbox" tabIndex={0} aria-labelledby={triggerId} class={css.box}>
        {collection.items.map((item) => {
          const isChosen = Number(item.at) === chosen;
          return (
            <div
              key={item.at}
              {...api.getItemProps({ item })}
              class={isChosen ? `${css.option} ${css.chosen}` : css.option}
            >
              <span class={item.isNested ? `${css.label} ${css.nested}` : css.label}>{item.label}</span>
              {item.hint === undefined ? null : <span class={css.hint}>{item.hint}</span>}
              <span class={css.sign}>{isChosen ? <Icon shape={Check} /> : null}</span>
            </div>
          );
        })}
      </div>
    </Layer>
  );
}
