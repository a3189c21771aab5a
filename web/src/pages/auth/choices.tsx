import { useEffect, useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { configuredProviders, PROVIDER_LABELS, signInWith } from "./providers.ts";

/** The buttons of the providers that the service is set up for. */
export function ProviderChoices({ next }: { next: string }) {
  const [isLeaving, setIsLeaving] = useState(false);
  useEffect(() => {
    // Back from the provider's page, this one may be as it was left.
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
