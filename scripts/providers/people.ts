import { createHash } from "node:crypto";

/** Somebody with an account at a local provider. There is no password: whoever asks is let in as anybody. */
export interface Person {
  /** The provider's id of the account; digits, as GitHub's are. */
  subject: string;
  email: string;
  emailVerified: boolean;
  name: string;
}

/** The people of one provider, for as long as it runs. */
export class People {
  readonly #bySubject = new Map<string, Person>();

  find(subject: string): Person | undefined {
    return this.#bySubject.get(subject);
  }

  /** The same address is the same person, unless a subject says otherwise: addresses change hands. */
  signIn({ email, emailVerified, name, subject }: Omit<Person, "subject"> & { subject?: string }): Person {
    const person = { subject: subject || numberOf(email), email, emailVerified, name };
    this.#bySubject.set(person.subject, person);
    return person;
  }
}

/** A stable number from an address, so that a restarted provider knows its people again. */
function numberOf(email: string): string {
  return String(createHash("sha256").update(email).digest().readUIntBE(0, 5) + 1);
}
