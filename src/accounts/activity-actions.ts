/**
 * What is recorded. Not failed sign-ins: strangers make those, and could push everything else out of the list.
 * Each is an action of somebody who had proven something.
 */
export const ACTIVITY_ACTIONS = [
  "account.create",
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
