import { mintOneTimeToken } from "../accounts/one-time-token.ts";
import type { Settings } from "../settings.ts";
import { type Layout, renderHtml, renderText } from "./layout.ts";
import type { Letter, Mail, MailContent, MailKind, Notice } from "./mail.ts";

/** The text of mails. */

/** Characters of a user's text that a mail keeps: enough for a name. */
const KEPT_LENGTH = 64;
/** Like `KEPT_LENGTH`, for a spelled address: the longest one, of 254 characters, may have dots in half of them. */
const KEPT_OF_ADDRESS = 800;

/**
 * Everything except letters, their marks, digits and the signs of names: no dot, slash, colon or @ remains, in any
 * script or width.
 */
const OTHER = /[^\p{L}\p{M}\p{Nd} '’,&()!_–—-]+/gu;

/** Digits that form a telephone number, with the usual separators. */
const NUMBER = /[(\p{Nd}](?:[ ()–—-]*\p{Nd}){6,}\)?/gu;

/**
 * Makes a user's text safe for a mail to another person: removes everything of which mail programs make links, also in
 * plain text (web and e-mail addresses, hosts, telephone numbers). Empty if nothing remains.
 */
export function unlinkable(text: string, kept = KEPT_LENGTH): string {
  const plain = text
    // Compatibility forms first: `℀` becomes a/c, and `⒈` a digit and a dot.
    .normalize("NFKC")
    .replace(OTHER, " ")
    .replace(NUMBER, "…")
    .replace(/\s+/g, " ")
    .trim();
  const characters = [...plain];
  return characters.length > kept ? `${characters.slice(0, kept).join("").trimEnd()}…` : plain;
}

/**
 * Spells an e-mail address completely, so that the recipient recognizes the sender and no mail program makes a link of
 * it: `ada at example dot com`.
 */
export function spelledAddress(address: string): string {
  return unlinkable(address.replaceAll("@", " at ").replaceAll(".", " dot "), KEPT_OF_ADDRESS);
}

/**
 * Console pages that the links in mails open. The token is in the fragment, which is never sent to a server or written
 * to a log. The page acts only on a click, so scanners that follow links do not use tokens up.
 */
const PAGES = {
  "verify-email": "/auth/verify",
  "magic-link": "/auth/magic",
  "reset-password": "/auth/reset",
  invite: "/auth/invitation",
  "confirm-address": "/auth/address",
} as const satisfies Record<Exclude<MailKind, "notice">, string>;

/**
 * Notices of changes that may be an attacker's. Their link opens the page that lists recent changes. It carries no
 * token.
 */
const REVIEWED: ReadonlySet<Notice["notice"]> = new Set(["session-ended", "provider-linked"]);

type Wording = Omit<Layout, "action" | "site">;

/**
 * Composes the letter of a pending mail.
 *
 * No subject contains text that a user typed. The text of an invitation contains the names of workspace and inviter
 * without anything that mail programs make links of; other mails contain no typed text. Otherwise an account with
 * another person's address could be used to send text to that person.
 */
export function composeLetter(
  { id, to, content }: Mail,
  ownerId: string,
  settings: Pick<Settings, "FRONTEND_URL" | "REFRESH_PEPPER">,
): Letter {
  const site = new URL(settings.FRONTEND_URL).host;
  const { subject, button, ...wording } = words(content, site);
  const href = linkOf(content, ownerId, settings);
  const layout = { ...wording, site, action: href && button ? { label: button, href } : null };
  return {
    id,
    to,
    kind: content.kind,
    subject,
    text: renderText(layout),
    html: renderHtml(layout),
    links: href ? [href] : [],
  };
}

function linkOf(
  content: MailContent,
  ownerId: string,
  { FRONTEND_URL, REFRESH_PEPPER }: Pick<Settings, "FRONTEND_URL" | "REFRESH_PEPPER">,
): string | null {
  if (content.kind === "notice") return REVIEWED.has(content.notice) ? `${FRONTEND_URL}/auth/review` : null;
  // An address object is named after a hash. The token of an e-mail address without an account contains no owner.
  const owner = /^[a-z]+_\w{12}$/.test(ownerId) ? ownerId : null;
  return `${FRONTEND_URL}${PAGES[content.kind]}#token=${mintOneTimeToken(owner, content.seed, REFRESH_PEPPER)}`;
}

function words(content: MailContent, site: string): Wording & { subject: string; button?: string } {
  switch (content.kind) {
    case "verify-email":
      return {
        subject: "Confirm your e-mail address",
        title: "Confirm your e-mail address",
        paragraphs: [`An account was created at ${site} with this address. If that was you, confirm the address.`],
        button: "Confirm address",
        after: [
          "The link works once, for 24 hours.",
          "If it was not you, open the link and choose “This was not me”. Everything set up with your address is then removed.",
        ],
      };
    case "magic-link":
      return {
        subject: "Your sign-in link",
        title: "Sign in",
        paragraphs: [`A sign-in link for this address was requested at ${site}.`],
        button: "Sign in",
        after: [
          "The link works once, for 10 minutes.",
          "If you did not request it, ignore this mail. Without the link, no one can sign in.",
        ],
      };
    case "reset-password":
      return {
        subject: "Set a new password",
        title: "Set a new password",
        paragraphs: [`A new password for your account at ${site} was requested.`],
        button: "Set new password",
        after: [
          "The link works once, for an hour. The new password ends every session of the account.",
          "If you did not request it, ignore this mail. Your password does not change.",
        ],
      };
    case "invite":
      return {
        subject: "Invitation to a workspace",
        title: "You are invited to a workspace",
        paragraphs: [invitationWords(content, site)],
        button: "See the invitation",
        after: [
          "The link works once, for 7 days, and is for you alone: it also confirms that this address is yours.",
          "If you do not recognize the sender, ignore this mail.",
        ],
      };
    case "confirm-address":
      return {
        subject: "Confirm that you want notifications",
        title: "Confirm that you want notifications",
        paragraphs: [confirmationWords(content, site)],
        button: "See the request",
        after: [
          "The link works for 7 days. Without it you get no further mails.",
          "If you do not recognize the sender, ignore this mail.",
        ],
      };
    case "notice":
      return noticeWords(content, site);
  }
}

interface Invitation {
  workspace: string;
  inviter: string;
  inviterName?: string | null;
  role?: string;
}

/** The address beside the name, because a name can be any text. */
function accountWords({ inviter, inviterName = null }: Invitation): string {
  const name = unlinkable(inviterName ?? "");
  return name === "" ? `The account ${spelledAddress(inviter)}` : `“${name}” (${spelledAddress(inviter)})`;
}

function invitationWords(invitation: Invitation, site: string): string {
  const { workspace, role } = invitation;
  const as = role === undefined ? "" : `, with the role ${role}`;
  return `${accountWords(invitation)} invites you to ${workspaceWords(workspace)} at ${site}${as}.`;
}

function confirmationWords(invitation: Invitation, site: string): string {
  const what = `alerts of ${workspaceWords(invitation.workspace)}`;
  return `${accountWords(invitation)} wants to send ${what} at ${site} to this address.`;
}

function workspaceWords(workspace: string): string {
  const name = unlinkable(workspace);
  return name === "" ? "a workspace" : `the workspace “${name}”`;
}

function noticeWords(notice: Notice, site: string): Wording & { subject: string; button?: string } {
  const recover = `If that was not you, set a new password at ${site}. That ends every session of your account.`;
  switch (notice.notice) {
    case "session-ended":
      return {
        subject: "One of your sessions was ended",
        title: "One of your sessions was ended",
        paragraphs: [
          `A refresh token of your account at ${site} was used a second time. That happens if a token was stolen, or if a program uses a stored one twice.`,
          "As a precaution, that session was ended and needs a new sign-in. Your other sessions are not affected.",
        ],
        button: "Review your account",
        after: [
          "There you can end all other sessions, remove recently added providers, and see the API keys created since.",
          `If you cannot explain it, set a new password at ${site} first. That ends every session of your account.`,
        ],
      };
    case "agent-ended":
      return {
        subject: "The access of one of your agents was ended",
        title: "The access of one of your agents was ended",
        paragraphs: [
          `A token of an agent that you signed in at ${site} was used a second time. That happens if a token was stolen, or if a program uses a stored one twice.`,
          "As a precaution, that access was ended. If you use the agent, sign it in again. Your other agents and your sessions are not affected.",
        ],
        after: [
          "Your account page lists the agents that have access, and the audit of the workspace lists what each of them asked.",
        ],
      };
    case "password-changed":
      return {
        subject: "Your password was changed",
        title: "Your password was changed",
        paragraphs: [`The password of your account at ${site} was changed, and all other sessions were ended.`],
        after: [recover],
      };
    case "provider-linked":
      return {
        subject: "A new way to sign in was added",
        title: "A new way to sign in was added",
        paragraphs: [`An account at ${notice.provider} can now sign in to your account at ${site}.`],
        button: "Review your account",
        after: [`${recover} Then review your account and remove the provider.`],
      };
  }
}
