import { mintOneTimeToken } from "../accounts/one-time-token.ts";
import type { Settings } from "../settings.ts";
import { type Layout, renderHtml, renderText } from "./layout.ts";
import type { Letter, Mail, MailContent, MailKind, Notice } from "./mail.ts";

/**
 * What a user typed, as it may stand in a mail to somebody else. Mail programs make links of addresses, hosts, telephone
 * numbers and the like, in plain text as well: so an invitation must not carry anything they could take for one.
 */

/** Characters of a typed text in a mail; a link has no use for more, and neither has a name. */
const KEPT_LENGTH = 64;

/** Letters, their marks, digits and the signs that names have. No dot, slash, colon or @, in whatever script or width. */
const OTHER = /[^\p{L}\p{M}\p{Nd} '’,&()!_–—-]+/gu;

/** Digits that make a telephone number, with what people put between them. */
const NUMBER = /[(\p{Nd}](?:[ ()–—-]*\p{Nd}){6,}\)?/gu;

/** A name without anything that a mail program makes a link of; empty where nothing is left. */
export function unlinkable(text: string): string {
  const plain = text
    // Compatibility forms first: `℀` is a/c, and `⒈` a digit and a dot.
    .normalize("NFKC")
    .replace(OTHER, " ")
    .replace(NUMBER, "…")
    .replace(/\s+/g, " ")
    .trim();
  const characters = [...plain];
  return characters.length > KEPT_LENGTH ? `${characters.slice(0, KEPT_LENGTH).join("").trimEnd()}…` : plain;
}

/** An e-mail address to be read by people alone: `ada at example dot com`. */
export function spelledAddress(address: string): string {
  return unlinkable(address.replaceAll("@", " at ").replaceAll(".", " dot "));
}

/**
 * Pages of the frontend that a mail's link opens. The token is in the fragment, which no server and no log ever sees, and
 * the page acts on a click: scanners that follow every link in a mail use nothing up.
 */
const PAGES = {
  "verify-email": "/auth/verify",
  "magic-link": "/auth/magic",
  "reset-password": "/auth/reset",
  invite: "/auth/invitation",
} as const satisfies Record<Exclude<MailKind, "notice">, string>;

/** What may be the work of a thief: its notice leads to the page that shows what else was changed. It carries no token. */
const REVIEWED: ReadonlySet<Notice["notice"]> = new Set(["session-ended", "provider-linked"]);

type Wording = Omit<Layout, "action" | "site">;

/**
 * The letter of a promised mail. Nothing that a user typed is in any subject. The text of an invitation has the names of
 * workspace and inviter, without anything that mail programs make links of; other mails have no typed text at all: an
 * account in the name of another person's address must not become a way to write to that person.
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
  // An address object is named after a hash, and the token of an address without an account is found by itself.
  const owner = /^[a-z]+_\w{12}$/.test(ownerId) ? ownerId : null;
  return `${FRONTEND_URL}${PAGES[content.kind]}#token=${mintOneTimeToken(owner, content.seed, REFRESH_PEPPER)}`;
}

function words(content: MailContent, site: string): Wording & { subject: string; button?: string } {
  switch (content.kind) {
    case "verify-email":
      return {
        subject: "Confirm your e-mail address",
        title: "Confirm your e-mail address",
        paragraphs: [
          `An account was made at ${site} with this address. If that was you, confirm that the address is yours.`,
        ],
        button: "Confirm address",
        after: [
          "The link works once, for 24 hours.",
          "Was it not you? Open the link and choose “This was not me”: whatever was set up with your address is removed.",
        ],
      };
    case "magic-link":
      return {
        subject: "Your sign-in link",
        title: "Sign in",
        paragraphs: [`Somebody, most likely you, asked to sign in at ${site} with this address.`],
        button: "Sign in",
        after: [
          "The link works once, for 10 minutes.",
          "If you did not ask for it, ignore this mail: nobody gets in without the link.",
        ],
      };
    case "reset-password":
      return {
        subject: "Set a new password",
        title: "Set a new password",
        paragraphs: [`Somebody, most likely you, asked to set a new password for your account at ${site}.`],
        button: "Set new password",
        after: [
          "The link works once, for an hour. The new password ends every session of the account.",
          "If you did not ask for it, ignore this mail: your password stays as it is.",
        ],
      };
    case "invite":
      return {
        subject: "Invitation to a workspace",
        title: "You are invited to a workspace",
        paragraphs: [invitationWords(content, site)],
        button: "See the invitation",
        after: [
          "The link works once, for 7 days. It also confirms that this address is yours: do not pass it on.",
          "If you do not know the sender, ignore this mail.",
        ],
      };
    case "notice":
      return noticeWords(content, site);
  }
}

function invitationWords({ workspace, inviter }: { workspace: string; inviter: string }, site: string): string {
  const name = unlinkable(workspace);
  const what = name === "" ? "a workspace" : `the workspace “${name}”`;
  return `The account ${spelledAddress(inviter)} invites you to ${what} at ${site}.`;
}

function noticeWords(notice: Notice, site: string): Wording & { subject: string; button?: string } {
  const recover = `If that was not you, ask for a new password at ${site}: it ends every session of your account.`;
  switch (notice.notice) {
    case "session-ended":
      return {
        subject: "One of your sessions was ended",
        title: "One of your sessions was ended",
        paragraphs: [
          `A refresh token of your account at ${site} was used a second time. That happens when a token was stolen, or when a program uses a stored one twice.`,
          "To be safe, that one session was ended, and whoever used it has to sign in again. Your other sessions go on.",
        ],
        button: "Review your account",
        after: [
          "There you sign out everywhere else, take back providers that were added of late, and see the API keys made since.",
          `If you cannot explain it, set a new password at ${site} first: it ends every session of your account.`,
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
        after: [`${recover} Then review your account, and take the provider back.`],
      };
  }
}
