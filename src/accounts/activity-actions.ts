/**
 * Actions that are recorded. Each requires a proof of identity. Failed sign-ins are not recorded: anyone can cause them
 * and could push all other items out of the list.
 */
export const ACTIVITY_ACTIONS = [
  "account.create",
  "account.rename",
  "session.start",
  "session.end",
  "session.end-others",
  "session.reuse",
  "email.verify",
  "email.reject",
  "password.set",
  "password.change",
  "password.reset",
  "provider.link",
  "provider.unlink",
  "account.recover",
] as const;

export type ActivityAction = (typeof ACTIVITY_ACTIONS)[number];
