import { useEffect, useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { configuredProviders, PROVIDER_LABELS, signInWith } from "./providers.ts";

/** The buttons of the configured providers. */
export function ProviderChoices({ next }: { next: string }) {
  const [isLeaving, setIsLeaving] = useState(false);
  useEffect(() => {
    // The browser may restore this page as it was when the user left for the provider.
    const back = (): void => setIsLeaving(false);
    addEventListener("pageshow", back);
    return () => removeEventListener("pageshow", back);
  }, []);
  return (
    <>
      {configuredProviders().map((provider) => {
        const { name, kind } = PROVIDER_LABELS[provider];
        return (
          <Button
            key={provider}
            disabled={isLeaving}
            onClick={() => {
              setIsLeaving(true);
              void signInWith(provider, next);
            }}
          >
            <span>
              Continue with {name} <small>({kind})</small>
            </span>
          </Button>
        );
      })}
    </>
  );
}
