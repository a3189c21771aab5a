import { expect, test } from "vitest";
import { notificationLetter } from "../../../src/mail/notification-letter.ts";
import { notificationOf } from "./support.ts";

const letterOf = (more: Parameters<typeof notificationOf>[0]) =>
  notificationLetter("ntf_1", "a@example.com", notificationOf(more), "logs.example.com", { leftOut: 0, stop: null });

test("The subject of a mail says the state once", () => {
  expect(letterOf({ title: "Firing: Errors (service=api)" }).subject).toBe("[Firing] Errors (service=api)");
  expect(letterOf({ kind: "resolved", title: "Resolved: Errors" }).subject).toBe("[Resolved] Errors");
  expect(letterOf({ kind: "canary", title: "Canary of ops" }).subject).toBe("[Canary] ops");
  // A rule may be named like a state.
  expect(letterOf({ title: "Firing: Firing: x" }).subject).toBe("[Firing] Firing: x");
  expect(letterOf({ title: "Resolved: x" }).subject).toBe("[Firing] Resolved: x");
});

test("No value of an entry breaks the line of a subject or turns the text behind it", () => {
  const { subject, html } = letterOf({ title: "Firing: Errors (g=a\r\nBcc: b\u2029c\u202ed\u2066e\ud800)" });
  expect(subject).toBe("[Firing] Errors (g=a  Bcc: b c d e\ufffd)");
  expect(html).toContain(`<title>${subject}</title>`);
});
