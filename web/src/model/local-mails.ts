import { request } from "../api/request.ts";

/** A mail as `GET /dev/outbox` lists it. */
export interface LocalMail {
  id: string;
  to: string;
  kind: string;
  subject: string;
  text: string;
  links: readonly string[];
  createdAt: string;
}

/** Loads the mails that a local service keeps instead of sending them, newest first. */
export async function loadLocalMails(signal?: AbortSignal): Promise<LocalMail[]> {
  return (await request<{ items: LocalMail[] }>("/dev/outbox", signal === undefined ? {} : { signal })).data.items;
}
