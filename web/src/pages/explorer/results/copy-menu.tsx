import { Braces, Copy, FileText, Link, Terminal } from "lucide";
import type { LogEntry } from "../../../model/types.ts";
import { Menu } from "../../../ui/menu.tsx";
import { entryCurl, jsonOf, textOf } from "./copy-entry.ts";
import { copyText } from "./copy-text.ts";

interface CopyMenuProps {
  entry: LogEntry;
  /** Address of a page that shows the entry, or `null`. */
  link: string | null;
}

/** Copies an entry in one of several forms. */
export function CopyMenu({ entry, link }: CopyMenuProps) {
  return (
    <Menu
      label="Copy"
      icon={Copy}
      small
      items={[
        {
          label: "As text",
          icon: FileText,
          shortcut: "y",
          onSelect: () => void copyText(textOf(entry), "Copied as text"),
        },
        { label: "As JSON", icon: Braces, onSelect: () => void copyText(jsonOf(entry), "Copied as JSON") },
        {
          label: "As curl",
          icon: Terminal,
          onSelect: () => void copyText(entryCurl(location.origin, entry), "Copied as curl"),
        },
        ...(link === null
          ? []
          : [{ label: "Link", icon: Link, onSelect: () => void copyText(link, "Copied the link") }]),
      ]}
    />
  );
}
