import { describe, expect, it } from 'vitest';
import type { IncomingMessage } from '../../../../src/channels/contract/channel.js';
import { type SlackWebhookOptions, slackWebhook, type WebhookAnswer } from '../../../../src/channels/slack/slack-webhook.js';
import { PerdureError } from '../../../../src/contracts/perdure-error.js';
import { directMessage, SIGNING_SECRET, signed } from '../support/slack-server.js';

interface Asked {
  readonly answer: WebhookAnswer;
  readonly received: readonly IncomingMessage[];
}

async function ask(
  body: string,
  headers: Record<string, string> = signed(body),
  options: Partial<SlackWebhookOptions> = {},
): Promise<Asked> {
  const received: IncomingMessage[] = [];
  const webhook = slackWebhook({
    signingSecret: () => SIGNING_SECRET,
    receive: async (message) => {
      received.push(message);
    },
    ...options,
  });
  return { answer: await webhook({ headers, body: Buffer.from(body) }), received };
}

/** A message in a channel. */
function channelMessage(more: object): string {
  return directMessage('<@UBOT> hi', '17.1', { channel: 'C1', channel_type: 'channel', ...more });
}

describe('slackWebhook', () => {
  it('takes a direct message: its session is the direct conversation, its id that of the platform', async () => {
    const { answer, received } = await ask(directMessage('is 1 &lt; 2 &amp; so on?', '17.1'));
    expect(answer.status).toBe(200);
    expect(received).toEqual([{ id: 'D1:17.1', conversation: 'D1', text: 'is 1 < 2 & so on?' }]);
  });

  it('answers url_verification', async () => {
    const body = JSON.stringify({ type: 'url_verification', challenge: 'abc' });
    expect((await ask(body)).answer).toMatchObject({ status: 200, body: { challenge: 'abc' } });
  });

  it('refuses a request with a wrong, missing or old signature, and takes nothing', async () => {
    const body = directMessage('hi', '17.1');
    const now = Math.floor(Date.now() / 1_000);
    const refused = [
      signed(body, { secret: 'another' }),
      signed(`${body} `),
      signed(body, { at: now - 301 }),
      signed(body, { at: now + 301 }),
      { ...signed(body), 'x-slack-signature': 'v0=zz' },
      { 'content-type': 'application/json' },
    ];
    for (const headers of refused) {
      const { answer, received } = await ask(body, headers);
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 'BAD_SIGNATURE' } } });
      expect(received).toEqual([]);
    }
    expect((await ask(body, signed(body, { at: now - 290 }))).answer.status).toBe(200);
  });

  it('answers a mention in a channel, in its thread, with the name of its author', async () => {
    const { received } = await ask(channelMessage({ type: 'app_mention' }));
    expect(received).toEqual([{ id: 'C1:17.1', conversation: 'C1:17.1', text: '<@U1>: hi' }]);
    const inThread = await ask(channelMessage({ type: 'app_mention', ts: '17.9', thread_ts: '17.1' }));
    expect(inThread.received).toMatchObject([{ id: 'C1:17.9', conversation: 'C1:17.1' }]);
    const whole = await ask(channelMessage({ type: 'app_mention' }), undefined, { session: 'channel' });
    expect(whole.received).toMatchObject([{ conversation: 'C1' }]);
  });

  it('ignores messages of bots, edits, messages that mention nobody, and users who are not listed', async () => {
    const ignored = [
      await ask(directMessage('hi', '17.1', { bot_id: 'B1' })),
      await ask(directMessage('hi', '17.1', { subtype: 'message_changed' })),
      await ask(channelMessage({})),
      await ask(directMessage('hi', '17.1'), undefined, { users: ['U2'] }),
      await ask(JSON.stringify({ type: 'event_callback', event: { type: 'reaction_added' } })),
      await ask('[]'),
    ];
    for (const { answer, received } of ignored) expect([answer.status, received]).toEqual([200, []]);
    expect((await ask(channelMessage({}), undefined, { respondTo: 'all' })).received).toHaveLength(1);
  });

  it('asks for the event again when the message could not be taken', async () => {
    const { answer } = await ask(directMessage('hi', '17.1'), undefined, {
      receive: () => Promise.reject(new PerdureError('TEMPORAL_UNREACHABLE', 'no server at 10.0.0.1', 5)),
    });
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(JSON.stringify(answer.body)).not.toContain('10.0.0.1');
  });

  it('refuses a message that can never be taken, and asks Slack not to repeat it', async () => {
    const { answer } = await ask(directMessage('hi', '17.1'), undefined, {
      receive: () => Promise.reject(new PerdureError('BAD_MESSAGE', 'secret detail', 2)),
    });
    expect(answer).toMatchObject({ status: 400, headers: { 'x-slack-no-retry': '1' }, body: { error: { code: 'BAD_MESSAGE' } } });
    expect(JSON.stringify(answer.body)).not.toContain('secret detail');
    const noSecret = await ask(directMessage('hi', '17.1'), undefined, {
      signingSecret: () => {
        throw new PerdureError('SECRET_MISSING', 'env:X has no value', 2);
      },
    });
    expect(noSecret.answer.status, 'an operator can end this').toBe(503);
  });

  it('refuses a signed body that is no JSON, or no UTF-8', async () => {
    expect((await ask('{')).answer.status).toBe(400);
    const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    const answers = slackWebhook({ signingSecret: () => SIGNING_SECRET, receive: () => Promise.resolve() });
    // the helper signs a text
    expect((await answers({ headers: signed(bytes.toString()), body: bytes })).status).toBe(401);
  });
});
