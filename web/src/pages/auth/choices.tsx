import { useEffect, useState } from "preact/hooks";
import { PROVIDERS } from "../../model/account.ts";
import { Button } from "../../ui/button.tsx";
import { missingProviders, PROVIDER_LABELS, signInWith } from "./providers.ts";

/** The buttons of the providers. One that the service was found not to know says so instead of leading nowhere again. */
export function ProviderChoices({ next }: { next: string }) {
  const [isLeaving, setIsLeaving] = useState(false);
  const [missing] = useState(missingProviders);
  useEffect(() => {
    // Back from the provider's page, this one may be as it was left.
    const back = (): void => setIsLeaving(false);
    addEventListener("pageshow", back);
    return () => removeEventListener("pageshow", back);
  }, []);
  return (
    <>
      {PROVIDERS.map((provider) => {
        const { name, kind } = PROVIDER_LABELS[provider];
        const isMissing = missing.includes(provider);
        return (
          <Button
            key={provider}
            disabled={isMissing || isLeaving}
            onClick={() => {
              setIsLeaving(true);
              void signInWith(provider, next);
            }}
          >
            <span>
              Continue with {name} <small>({isMissing ? "not set up on this service" : kind})</small>
            </span>
          </Button>
        );
      })}
    </>
  );
}
