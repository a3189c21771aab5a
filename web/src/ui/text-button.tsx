import type { ComponentChildren } from "preact";
import { isSelecting } from "./selection.ts";

interface TextButtonProps {
  class?: string | undefined;
  title: string;
  onPress: () => void;
  children: ComponentChildren;
}

/** A button with selectable text, unlike the browser's own button. */
export function TextButton({ class: className, title, onPress, children }: TextButtonProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: the text of a button cannot be selected.
    <span
      role="button"
      tabIndex={0}
      class={className}
      title={title}
      onClick={({ currentTarget }) => {
        if (!isSelecting(currentTarget)) onPress();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onPress();
      }}
    >
      {children}
    </span>
  );
}
