import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { askToLeave, type Guarded, guardLeaving, isGuarded, isHere } from "../lib/leaving.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Row } from "./page.tsx";

/** Attribute of a link by which nothing is lost. */
const FREE = "data-leaves-freely";

interface LeaveGuardProps {
  title: string;
  /** Label of the button that leaves and loses something. */
  action: string;
  /** Label of the button that stays. */
  stay: string;
  /** Keeps what would be lost, and returns whether it did. */
  rescue?: { label: string; run: () => Promise<boolean> };
  /** Called once the user has confirmed the leave and it has begun. The page may still be there later, and then asks again. */
  onLeave?: () => void;
  /** What is lost. */
  children: ComponentChildren;
}

/**
 * While rendered, asks before the page is left: by a link, a command, the browser's history, or `askToLeave`. The browser asks in its
 * own words before the tab is closed or loads another document.
 */
export function LeaveGuard({ title, action, stay, rescue, onLeave, children }: LeaveGuardProps) {
  const [leave, setLeave] = useState<(() => void) | null>(null);
  const { url } = useLocation();
  const here = useRef(url);
  const guard = useRef<Guarded | null>(null);
  useEffect(() => {
    here.current = url;
  }, [url]);
  useLayoutEffect(() => {
    const ask = (go: () => void): void => setLeave(() => go);
    const own = guardLeaving(ask, () => here.current);
    guard.current = own;
    // Before the router's own listener.
    const clicked = (event: MouseEvent): void => {
      const link = isGuarded() ? linkOf(event) : null;
      if (link === null) return;
      if (isHere(link.href)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      askToLeave(() => link.click());
    };
    const unloading = (event: BeforeUnloadEvent): void => {
      if (isGuarded()) event.preventDefault();
    };
    addEventListener("click", clicked, true);
    addEventListener("beforeunload", unloading);
    return () => {
      own.end();
      removeEventListener("click", clicked, true);
      removeEventListener("beforeunload", unloading);
    };
  }, []);
  if (leave === null) return null;
  const go = (): void => {
    setLeave(null);
    guard.current?.leave(leave);
    onLeave?.();
  };
  return (
    <Dialog title={title} onClose={() => setLeave(null)} closeOnBackdrop={false}>
      {children}
      <Row>
        {rescue === undefined ? null : (
          <Button
            look="primary"
            onClick={async () => {
              if (await rescue.run()) go();
            }}
          >
            {rescue.label}
          </Button>
        )}
        <Button look="danger" onClick={go}>
          {action}
        </Button>
        <Button onClick={() => setLeave(null)}>{stay}</Button>
      </Row>
    </Dialog>
  );
}

/** The link that a click follows in this tab. Other origins and downloads are left to the browser. */
function linkOf(event: MouseEvent): HTMLAnchorElement | null {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.origin !== location.origin || !/^(_self)?$/.test(link.target)) return null;
  return link.hasAttribute("download") || link.hasAttribute(FREE) ? null : link;
}
