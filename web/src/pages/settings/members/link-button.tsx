import type { ButtonHTMLAttributes } from "preact";
import type { Invitation } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import { CopiedStatus, CopyWords, useCopied } from "../../../ui/copy.tsx";
import type { KeptLinks } from "./kept-links.ts";

type Renewal = Pick<ButtonHTMLAttributes<HTMLButtonElement>, "disabled" | "title" | "onClick"> & {
  "aria-describedby": string | undefined;
  "aria-disabled": boolean;
};

interface LinkButtonProps {
  invitation: Invitation;
  kept: KeptLinks;
  /** Ends the accessible name. */
  of: string;
  /** What makes a new link where no mail is kept. */
  renewal?: Renewal;
}

/**
 * Copies the link of an invitation whose mail a local service keeps, waits for that mail, or makes a new one: one button, which has the
 * focus after each of these steps if it had it before.
 */
export function LinkButton({ invitation: { id }, kept, of, renewal }: LinkButtonProps) {
  const { isCopied, copy, left } = useCopied();
  const link = kept.links.get(id);
  const isNew = link === undefined && !kept.isWaiting;
  if (renewal === undefined && isNew) return null;
  const isSaid = isCopied && link !== undefined;
  const { onClick, "aria-disabled": isRenewing = false, ...against } = renewal ?? {};
  return (
    <>
      <Button
        small
        // It goes without a mail, and must not have the focus then.
        disabled={renewal === undefined && link === undefined}
        {...against}
        {...left}
        aria-disabled={isNew ? isRenewing : link === undefined}
        onClick={(event) => {
          if (link !== undefined) void copy(link, event.currentTarget);
          else if (isNew) onClick?.(event);
        }}
      >
        {link !== undefined ? <CopyWords isCopied={isSaid} label="Copy link" /> : isNew ? "New link" : "Copy link"}
        <span class="visually-hidden"> {of}</span>
      </Button>
      <CopiedStatus isCopied={isSaid} />
    </>
  );
}
