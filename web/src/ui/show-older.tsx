import type { Action } from "../lib/action.ts";
import { Button } from "./button.tsx";
import { Row } from "./page.tsx";
import { Failure } from "./states.tsx";

/** The button that loads the next page of a list, and the failure of its last use; nothing after the last page. */
export function ShowOlder({ more }: { more: Action<[]> | null }) {
  if (more === null) return null;
  return (
    <>
      {more.failure ? <Failure failure={more.failure} onRetry={() => void more.run()} isRepeated={false} /> : null}
      <Row>
        <Button busy={more.busy} onClick={() => void more.run()}>
          Show older
        </Button>
      </Row>
    </>
  );
}
