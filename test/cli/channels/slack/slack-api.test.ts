import { afterEach, describe, expect, it } from 'vitest';
import { ChannelError } from '../../../../src/channels/contract/channel-error.js';
import { SlackApi } from '../../../../src/channels/slack/slack-api.js';
import { BOT_TOKEN, type Failure, SlackServer } from '../support/slack-server.js';

const servers: SlackServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

/** The error of a post that fails in this way. */
async function errorOf(
  failure: Failure,
): Promise<{ readonly kind: string; readonly retryAfterMs: number | undefined; readonly message: string }> {
  const server = await SlackServer.start();
  servers.push(server);
  server.failNext('chat.postMessage', failure);
  const api = new SlackApi({ token: () => BOT_TOKEN, apiUrl: server.url });
  const sent = api.call('chat.postMessage', { channel: 'C1', text: 'hi' }, new AbortController().signal);
  const error: unknown = await sent.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof ChannelError)) throw new Error(`a ChannelError is expected, got ${String(error)}`);
  return { kind: error.kind, retryAfterMs: error.retryAfterMs, message: error.message };
}

describe('SlackApi', () => {
  it('only errors that can never pass are refusals: the message is given up', async () => {
    for (const error of [
      'channel_not_found',
      'not_in_channel',
      'is_archived',
      'msg_too_long',
      'no_text',
      'message_not_found',
      'invalid_arguments',
    ]) {
      expect({ error, ...(await errorOf({ kind: 'error', error })) }).toMatchObject({ error, kind: 'refused' });
    }
  });

  it('both spellings of a rate limit are waited for', async () => {
    for (const error of ['rate_limited', 'ratelimited']) {
      expect({ error, ...(await errorOf({ kind: 'error', error })) }).toMatchObject({ error, kind: 'rate-limited' });
    }
  });

  it('an error of the key waits for an operator', async () => {
    for (const error of ['invalid_auth', 'token_revoked', 'missing_scope', 'no_permission']) {
      expect({ error, ...(await errorOf({ kind: 'error', error })) }).toMatchObject({ error, kind: 'unauthorized' });
    }
  });

  it('an error that nobody knows is tried again, and so is one of a migration', async () => {
    for (const error of ['an_error_of_next_year', 'team_added_to_org', 'internal_error', 'fatal_error', 'request_timeout']) {
      expect({ error, ...(await errorOf({ kind: 'error', error })) }).toMatchObject({ error, kind: 'uncertain' });
    }
  });

  it('an answer that is not of Slack is tried again, whatever its status', async () => {
    const page = '<html>Access denied by the proxy</html>';
    for (const status of [200, 403, 404, 502]) {
      expect({ status, ...(await errorOf({ kind: 'status', status, body: page })) }).toMatchObject({ status, kind: 'uncertain' });
    }
    expect(await errorOf({ kind: 'status', status: 200, body: '{"message":"hello"}' })).toMatchObject({ kind: 'uncertain' });
  });

  it('Retry-After counts with each status', async () => {
    for (const [status, kind] of [
      [429, 'rate-limited'],
      [503, 'uncertain'],
      [403, 'uncertain'],
    ] as const) {
      const failure = { kind: 'status', status, headers: { 'retry-after': '7' } } as const;
      expect({ status, ...(await errorOf(failure)) }).toMatchObject({ status, kind, retryAfterMs: 7_000 });
    }
    expect((await errorOf({ kind: 'status', status: 503, headers: { 'retry-after': 'soon' } })).retryAfterMs).toBeUndefined();
  });
});
