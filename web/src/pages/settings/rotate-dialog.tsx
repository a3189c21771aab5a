import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";

const OVERLAPS = [
  { seconds: 0, label: "None, stops immediately" },
  { seconds: 3600, label: "1 hour" },
  { seconds: 86_400, label: "1 day" },
  { seconds: 604_800, label: "7 days" },
  { seconds: 2_592_000, label: "30 days" },
] as const;

interface RotateDialogProps {
  title: string;
  /** Label of the button. */
  action: string;
  onRotate: (overlapSeconds: number) => Promise<void>;
  onClose: () => void;
  /** What is created, and what the overlap means. */
  children: ComponentChildren;
}

/** Asks how long what is rotated stays valid beside its successor. */
export function RotateDialog({ title, action, onRotate, onClose, children }: RotateDialogProps) {
  const [overlap, setOverlap] = useState("86400");
  const rotating = useAction(() => onRotate(Number(overlap)));
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void rotating.run();
        }}
      >
        {children}
        <Field label="Overlap">
          {(props) => (
            <Select
              {...props}
              value={overlap}
              options={OVERLAPS.map(({ seconds, label }) => ({ value: String(seconds), label }))}
              onChange={setOverlap}
            />
          )}
        </Field>
        <Problem failure={rotating.failure} />
        <Row>
          <Button type="submit" look="primary" busy={rotating.busy}>
            {action}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}
