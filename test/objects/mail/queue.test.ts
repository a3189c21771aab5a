import {
  createExecutionContext,
  createMessageBatch,
  evictDurableObject,
  getQueueResult,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hashPassword } from "../../../src/accounts/password.ts";
import { register } from "../../../src/accounts/register.ts";
import { newId } from "../../../src/ids.ts";
import { addPendingMail, claimMail, nextMailAt, takeDueMails } from "../../../src/mail/pending-mails.ts";
import { enqueueDueMails } from "../../../src/objects/queues/mails.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";
import { registrationPorts } from "../../../src/routes/auth/sign-in.ts";
import worker from "../../../src/worker.ts";
import {
  consume,
  deliver,
  emailOwner,
  emailStub,
  mailsTo,
  pendingMailsOf,
  requestsAnswered,
  rowsOf,
} from "../accounts/mail-support.ts";
import { call, login, PASSWORD, registered, userStub } from "../accounts/support.ts";

afterEach(() => vi.restoreAllMocks());

/** Adds a pending mail to a user's object without enqueueing it: the state after a crash right after the commit. */
async function addPending(userId: string, to: string): Promise<string> {
  const id = newId("mail");
  await runInDurableObject(userStub(userId), (_, { storage }) => {
    storage.sql.exec("DELETE FROM notices");
    const content = { kind: "notice", notice: "password-changed" } as const;
    addPendingMail(storage.sql, { id, to, content, expiresAt: Date.now() + 3_600_000 }, Date.now());
  });
  return id;
}

async function account(email: string): Promise<string> {
  const { user } = await registered(email);
  await deliver(user.id);
  return user.id;
}

/** A binding that fails its first sends with the given errors, and accepts the rest. */
function binding(...failures: Error[]) {
  const sent: { to: string; headers: Record<string, string> }[] = [];
  const send = async (letter: { to: string; headers: Record<string, string> }) => {
    const failure = failures.shift();
    if (failure) throw failure;
    sent.push(letter);
    return { messageId: "1" };
  };
  return { sent, overrides: { MAILER: "cloudflare", MAIL_FROM: "Taffrail <mail@logs.example>", EMAIL: { send } } };
}

describe("the mail queue", () => {
  it("sends a registration's mail through the local broker, after the response", async () => {
    const { user } = await registered("broker@example.com");
    expect(await mailsTo("broker@example.com")).toEqual([]);
    await vi.waitFor(async () => expect(await mailsTo("broker@example.com")).toHaveLength(1), 10_000);
    await vi.waitFor(async () => expect(await pendingMailsOf(user.id)).toEqual([]), 10_000);
  });

  it("sends a mail once for repeated and concurrent messages", async () => {
    const userId = await account("once@mail.example");
    const id = await addPending(userId, "once@mail.example");
    const { sent, overrides } = binding();
    const results = await Promise.all([
      consume(
        [
          [userId, id],
          [userId, id],
          [userId, id],
        ],
        overrides,
      ),
      consume([[userId, id]], overrides),
    ]);
    await evictDurableObject(userStub(userId));
    results.push(await consume([[userId, id]], overrides));
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ to: "once@mail.example", headers: { "Message-ID": `<${id}@logs.example>` } });
    for (const { explicitAcks, retryMessages } of results) {
      expect(explicitAcks.length).toBeGreaterThan(0);
      expect(retryMessages).toEqual([]);
    }
    expect(await pendingMailsOf(userId)).toEqual([]);
  });

  it("retries failed mails without delaying the rest of the batch", async () => {
    const userId = await account("retry@mail.example");
    const id = await addPending(userId, "retry@mail.example");
    const { sent, overrides } = binding(new Error("down"), new Error("down"), new Error("down"));
    for (const attempt of [1, 2, 3]) {
      const { retryMessages, explicitAcks } = await consume([[userId, id]], overrides, attempt);
      expect([explicitAcks, retryMessages.map(({ msgId }) => msgId)]).toEqual([[], ["0"]]);
    }
    const other = await addPending(userId, "retry-2@mail.example");
    const unknown = newId("mail");
    const mixed = await consume(
      [
        [userId, unknown],
        [userId, other],
        [newId("usr"), unknown],
        [userId, id],
      ],
      overrides,
      4,
    );
    expect(mixed.explicitAcks).toEqual(expect.arrayContaining(["0", "1", "2", "3"]));
    expect(sent.map(({ to }) => to).sort()).toEqual(["retry-2@mail.example", "retry@mail.example"]);
  });

  it("sends a mail again under the same id if its attempt has no outcome after 30 s", async () => {
    const email = "silent@mail.example";
    const userId = await account(email);
    const id = await addPending(userId, email);
    // The mail was sent, and the process ended before it could record that.
    expect(await userStub(userId).claimMail(id)).toMatchObject({ id, to: email });
    expect((await consume([[userId, id]])).explicitAcks).toEqual(["0"]);
    expect(await mailsTo(email, "notice")).toEqual([]);
    await evictDurableObject(userStub(userId));
    const claimedAt = Date.now();
    const clock = vi.spyOn(Date, "now").mockReturnValue(claimedAt + 29_000);
    await consume([[userId, id]]);
    expect(await mailsTo(email, "notice")).toEqual([]);
    clock.mockReturnValue(claimedAt + 30_000);
    await consume([
      [userId, id],
      [userId, id],
    ]);
    clock.mockRestore();
    expect((await mailsTo(email, "notice")).map((mail) => mail.id)).toEqual([id]);
  });

  it("the outbox and Resend identify a mail by its id, so that a second attempt sends nothing", async () => {
    const email = "idempotent@mail.example";
    const userId = await account(email);
    const id = await addPending(userId, email);
    const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("{}"));
    const resend = { MAILER: "resend", MAIL_FROM: "Taffrail <mail@logs.example>", RESEND_API_KEY: "re_secret" };
    await consume([[userId, id]], resend);
    const [url, init] = fetched.mock.calls[0] ?? [];
    expect(String(url)).toBe("https://api.resend.com/emails");
    expect(new Headers(init?.headers).get("Idempotency-Key")).toBe(id);
    expect(new Headers(init?.headers).get("Authorization")).toBe("Bearer re_secret");
    expect(JSON.parse(String(init?.body))).toMatchObject({ from: "Taffrail <mail@logs.example>", to: [email] });
    fetched.mockRestore();
    const again = await addPending(userId, email);
    for (let i = 0; i < 3; i++) {
      await userStub(userId).releaseMail(again);
      await consume([[userId, again]]);
      await runInDurableObject(userStub(userId), (_, { storage }) => {
        const content = { kind: "notice", notice: "password-changed" } as const;
        storage.sql.exec("DELETE FROM notices");
        addPendingMail(storage.sql, { id: again, to: email, content, expiresAt: Date.now() + 60_000 }, Date.now());
      });
    }
    expect((await mailsTo(email, "notice")).map((mail) => mail.id)).toEqual([again]);
  });

  it.each([
    [200, "sent"],
    [422, "dropped"],
    [400, "dropped"],
    [401, "kept"],
    [403, "kept"],
    [429, "kept"],
    [500, "kept"],
  ] as const)("Resend's %i: %s", async (status, outcome) => {
    const email = `resend-${status}@mail.example`;
    const userId = await account(email);
    const id = await addPending(userId, email);
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response(`about ${email}`, { status }));
    const overrides = { MAILER: "resend", MAIL_FROM: "mail@logs.example", RESEND_API_KEY: "re_secret" };
    const { explicitAcks, retryMessages } = await consume([[userId, id]], overrides);
    expect([explicitAcks.length, retryMessages.length]).toEqual(outcome === "kept" ? [0, 1] : [1, 0]);
    expect(await pendingMailsOf(userId)).toEqual(outcome === "kept" ? [id] : []);
  });

  it("a mail that the queue gave up on is logged and stays pending", async () => {
    const userId = await account("dead@mail.example");
    const id = await addPending(userId, "dead@mail.example");
    const lines: string[] = [];
    vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
    const batch = createMessageBatch("taffrail-mail-dead", [
      { id: "0", timestamp: new Date(), attempts: 1, body: [userId, id] },
    ]);
    const ctx = createExecutionContext();
    await worker.queue(batch, { ...env });
    expect((await getQueueResult(batch, ctx)).ackAll).toBe(true);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        time: expect.any(String),
        level: "error",
        event: "mail.dead-letter",
        outcome: "noted",
        owner: userId,
        mailId: id,
        requestId: null,
      },
    ]);
    expect(await pendingMailsOf(userId)).toEqual([id]);
  });
});

describe("a pending mail", () => {
  it("is enqueued again by the alarm if its message was lost, with growing delays, until it expires", async () => {
    const userId = await account("lost@mail.example");
    await runInDurableObject(userStub(userId), async (_, { storage }) => {
      const startedAt = Date.now();
      const id = newId("mail");
      const content = { kind: "notice", notice: "session-ended" } as const;
      addPendingMail(storage.sql, { id, to: "x@mail.example", content, expiresAt: startedAt + 3_600_000 }, startedAt);
      const enqueued: number[] = [];
      const queue = { sendBatch: async (messages: unknown[]) => void enqueued.push(messages.length) };
      const broken = { sendBatch: () => Promise.reject(new Error("no queue")) };
      for (const [seconds, total] of [
        [0, 1],
        [29, 1],
        [30, 2],
        [89, 2],
        [90, 3],
        [209, 3],
        [210, 4],
      ] as const) {
        enqueueDueMails(
          { ...env, MAIL_QUEUE: queue } as never,
          storage.sql,
          userId,
          startedAt + seconds * 1000,
          newAlarmOrigin(),
        );
        expect([seconds, enqueued.length]).toEqual([seconds, total]);
      }
      enqueueDueMails(
        { ...env, MAIL_QUEUE: broken } as never,
        storage.sql,
        userId,
        startedAt + 600_000,
        newAlarmOrigin(),
      );
      expect(storage.sql.exec("SELECT id FROM promised_mails").toArray()).toEqual([{ id }]);
      enqueueDueMails(
        { ...env, MAIL_QUEUE: queue } as never,
        storage.sql,
        userId,
        startedAt + 3_600_000,
        newAlarmOrigin(),
      );
      expect(storage.sql.exec("SELECT id FROM promised_mails").toArray()).toEqual([]);
    });
  });

  it("that is claimed is enqueued again when the claim ends, and not before", async () => {
    const userId = await account("claimed@mail.example");
    await runInDurableObject(userStub(userId), async (_, { storage: { sql } }) => {
      const startedAt = Date.now();
      const id = newId("mail");
      const content = { kind: "notice", notice: "session-ended" } as const;
      addPendingMail(sql, { id, to: "x@mail.example", content, expiresAt: startedAt + 3_600_000 }, startedAt);
      expect(takeDueMails(sql, startedAt).due).toEqual([{ id, requestId: null }]);
      const claimedAt = startedAt + 2000;
      expect(claimMail(sql, id, claimedAt)).toMatchObject({ id });
      expect(nextMailAt(sql)).toBe(claimedAt + 30_000);
      expect(takeDueMails(sql, claimedAt + 29_999).due).toEqual([]);
      expect(claimMail(sql, id, claimedAt + 29_999)).toBeNull();
      expect(takeDueMails(sql, claimedAt + 30_000).due).toEqual([{ id, requestId: null }]);
      expect(claimMail(sql, id, claimedAt + 30_000)).toMatchObject({ id });
      sql.exec("DELETE FROM promised_mails");
    });
  });

  it("is sent after a crash right after its commit, because the alarm is set in the same transaction", async () => {
    const email = "crash@mail.example";
    const userId = await account(email);
    await runInDurableObject(userStub(userId), async (_, { storage }) => {
      await storage.deleteAlarm();
    });
    // The object has the time that it has set.
    await evictDurableObject(userStub(userId));
    await userStub(userId).requestTokenMail({
      purpose: "magic-link",
      mailId: newId("mail"),
      seed: crypto.getRandomValues(new Uint8Array(32)),
    });
    await runInDurableObject(userStub(userId), async (_, { storage }) => {
      expect(await storage.getAlarm()).toBeGreaterThan(Date.now());
      // Loses the message.
      storage.sql.exec("UPDATE promised_mails SET claimed_until = 0, next_at = 0");
    });
    await evictDurableObject(userStub(userId));
    expect(await runDurableObjectAlarm(userStub(userId))).toBe(true);
    await vi.waitFor(async () => expect(await mailsTo(email, "magic-link")).toHaveLength(1), 10_000);
  });

  it("of a registration that was killed is sent if and only if the address was claimed", async () => {
    const steps = ["provisionUser", "provisionWorkspace", "claimAddress"] as const;
    for (const step of steps) {
      const email = `killed-${step.toLowerCase()}@mail.example`;
      const ports = registrationPorts({ ...env }, newAlarmOrigin());
      const killed = {
        ...ports,
        discard: () => Promise.reject(new Error("no process is left")),
        [step]: async (value: never) => {
          await ports[step](value);
          throw new Error("killed");
        },
      };
      const ids = { id: newId("usr"), workspaceId: newId("ws") };
      const passwordHash = await hashPassword(PASSWORD);
      const newcomer = { ...ids, email, name: null, passwordHash, emailVerified: false };
      await expect(register(killed, newcomer, Date.now())).rejects.toThrow("killed");
      const stub = userStub(ids.id);
      await evictDurableObject(stub);
      expect(await pendingMailsOf(ids.id)).toHaveLength(1);
      const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 400_000);
      expect(await runDurableObjectAlarm(stub)).toBe(true);
      clock.mockRestore();
      if (step === "claimAddress") {
        await vi.waitFor(async () => expect(await mailsTo(email, "verify-email")).toHaveLength(1), 10_000);
        expect((await login(email)).status).toBe(200);
      } else {
        expect(await pendingMailsOf(ids.id)).toEqual([]);
        expect(await mailsTo(email)).toEqual([]);
      }
    }
  });

  it("of a registration that lost its address is never sent", async () => {
    const email = "loser@mail.example";
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => call("/auth/register", { body: { email, password: PASSWORD } })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const winner = await env.DB.prepare("SELECT id FROM users WHERE email = ?").bind(email).first<{ id: string }>();
    await deliver(winner?.id ?? "");
    await scheduler.wait(1500);
    expect(await mailsTo(email)).toHaveLength(1);
  });
});

describe("a mail request", () => {
  it("whose processing was interrupted is processed by the alarm, and sends one mail", async () => {
    for (const known of [true, false]) {
      const email = `outage-${known}@mail.example`;
      if (known) await account(email);
      await env.DB.prepare("ALTER TABLE users RENAME TO users_gone").run();
      expect((await call("/auth/magic-link", { body: { email } })).status).toBe(200);
      await vi.waitFor(async () =>
        expect(await rowsOf(emailOwner(email), "SELECT tries FROM mail_requests")).toEqual([{ tries: 1 }]),
      );
      await scheduler.wait(50);
      await env.DB.prepare("ALTER TABLE users_gone RENAME TO users").run();
      await evictDurableObject(emailStub(email));
      const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 20_000);
      expect(await runDurableObjectAlarm(emailStub(email))).toBe(true);
      clock.mockRestore();
      await requestsAnswered(email);
      await vi.waitFor(async () => expect(await mailsTo(email, "magic-link")).toHaveLength(1), 10_000);
    }
  });

  it("that is repeated after its response was lost adds no pending mail", async () => {
    const email = "repeated@mail.example";
    const userId = await account(email);
    const request = { purpose: "reset-password", mailId: newId("mail"), seed: new Uint8Array(32).fill(7) } as const;
    for (let i = 0; i < 3; i++) {
      await userStub(userId).requestTokenMail(request);
      await deliver(userId);
    }
    expect(await mailsTo(email, "reset-password")).toHaveLength(1);
  });
});
