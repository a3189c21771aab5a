import { createHash } from "node:crypto";

/** A user with an account at a local provider. There is no password: every visitor can sign in as any user. */
export interface Person {
  /** The provider's id of the account; digits, like GitHub's. */
  subject: string;
  email: string;
  emailVerified: boolean;
  name: string;
}

/** The users of one provider, in memory. */
export class People {
  readonly #bySubject = new Map<string, Person>();

  find(subject: string): Person | undefined {
    return this.#bySubject.get(subject);
  }

  /** The same address is the same user unless a subject is given, because addresses can change owners. */
  signIn({ email, emailVerified, name, subject }: Omit<Person, "subject"> & { subject?: string }): Person {
    const person = { subject: subject || numberOf(email), email, emailVerified, name };
    this.#bySubject.set(person.subject, person);
    return person;
  }
}

/** A stable number derived from an address, so that a restarted provider recognizes its users. */
function numberOf(email: string): string {
  return String(createHash("sha256").update(email).digest().readUIntBE(0, 5) + 1);
}
