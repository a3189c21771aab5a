import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../lib/action.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";
import { Row } from "./page.tsx";
import { Problem } from "./problem.tsx";

interface ConfirmProps {
  title: string;
  /** Label of the confirm button: the action, never "OK". */
  action: string;
  /** Text to type first, for actions with large effects. */
  typed?: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
  /** What the action deletes. */
  children: ComponentChildren;
}

/** Asks for confirmation of a destructive action. The parent closes the dialog, also after the action. */
export function Confirm({ title, action, typed, onConfirm, onClose, children }: ConfirmProps) {
  const [text, setText] = useState("");
  const doing = useAction(onConfirm);
  const isReady = typed === undefined || text === typed;
  return (
    <Dialog title={title} onClose={onClose} closeOnBackdrop={typed === undefined}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void doing.run();
        }}
      >
        {children}
        {typed === undefined ? null : (
          <Field label="Type the name to confirm" hint={<code>{typed}</code>}>
            {(props) => (
              <input
                {...props}
                value={text}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => setText(event.currentTarget.value)}
              />
            )}
          </Field>
        )}
        <Problem failure={doing.failure} />
        <Row>
          <Button type="submit" look="danger" busy={doing.busy} disabled={!isReady}>
            {action}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}
