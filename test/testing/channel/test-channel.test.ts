import { describe, expect, it } from 'vitest';
import type { Channel } from '../../../src/channels/contract/channel.js';
import { SlackChannel } from '../../../src/channels/slack/slack-channel.js';
import { CHANNEL_CLAIMS } from '../../../src/testing/channel/channel-claims.js';
import { ChannelTestError, testChannel } from '../../../src/testing/channel/test-channel.js';
import type { SendFailure, TestedPlatform } from '../../../src/testing/channel/tested-platform.js';
import { BOT_TOKEN, type Failure, SlackServer } from '../../cli/channels/support/slack-server.js';

const FAILURES: Readonly<Record<SendFailure, Failure>> = {
  'rate-limited': { kind: 'status', status: 429, headers: { 'retry-after': '2' } },
  refused: { kind: 'error', error: 'channel_not_found' },
  unauthorized: { kind: 'error', error: 'invalid_auth' },
  lost: { kind: 'lost' },
};

/** The Slack channel at a local server. `change` breaks it. */
async function slackPlatform(change: (channel: SlackChannel) => Channel = (channel) => channel): Promise<TestedPlatform> {
  const server = await SlackServer.start();
  return {
    channel: change(new SlackChannel({ token: () => BOT_TOKEN, apiUrl: server.url })),
    conversation: 'C1:17.1',
    messages: () =>
      Promise.resolve(
        server.messages.map(({ ts, text }) => ({
          id: ts,
          text: text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
          notifies: /<[!@]/u.test(text),
        })),
      ),
    failNextSend: (failure) => {
      server.failNext('chat.postMessage', FAILURES[failure]);
      return Promise.resolve();
    },
    secrets: [BOT_TOKEN],
    close: () => server.stop(),
  };
}

/** The claims that a broken channel fails. */
async function failuresOf(change: (channel: SlackChannel) => Channel): Promise<readonly string[]> {
  const error = await testChannel(() => slackPlatform(change)).then(
    () => undefined,
    (caught: unknown) => caught,
  );
  return error instanceof ChannelTestError ? error.failures.map(({ claim }) => claim) : [];
}

/** A channel with some methods replaced. */
function changed(channel: SlackChannel, methods: Partial<Channel>): Channel {
  return {
    abilities: channel.abilities,
    send: (message, signal) => channel.send(message, signal),
    edit: (message, signal) => channel.edit(message, signal),
    find: (message, signal) => channel.find(message, signal),
    typing: (conversation, signal) => channel.typing(conversation, signal),
    ...methods,
  };
}

/** A channel whose errors have its key. */
function leaking(channel: SlackChannel): Channel {
  return changed(channel, {
    send: async (message, signal) =>
      await channel.send(message, signal).catch((error: Error) => {
        error.message += BOT_TOKEN;
        throw error;
      }),
  });
}

describe('testChannel', () => {
  it('the Slack channel fulfils every claim', async () => {
    const report = await testChannel(slackPlatform);
    expect(report).toEqual({ passed: CHANNEL_CLAIMS.map(({ title }) => title), leftOut: {} });
  });

  it('finds a channel that finds nothing, one that edits nothing, and one whose errors have the key', async () => {
    expect(await failuresOf((channel) => changed(channel, { find: () => Promise.resolve(undefined) }))).toEqual([
      expect.stringContaining('although its answer was lost'),
    ]);
    expect(await failuresOf((channel) => changed(channel, { edit: () => Promise.resolve() }))).toEqual([
      expect.stringContaining('is edited'),
    ]);
    expect(await failuresOf(leaking)).toEqual([
      expect.stringContaining('although its answer was lost'),
      expect.stringContaining('a rate limit'),
      expect.stringContaining('a refusal'),
      expect.stringContaining('a refused key'),
    ]);
  });

  it('says which claims do not concern a channel', async () => {
    const { leftOut } = await testChannel(() =>
      slackPlatform((channel) => ({
        abilities: { deduplicates: 'never', textCharsMax: 1_000 },
        send: (message, signal) => channel.send(message, signal),
      })),
    );
    expect(Object.values(leftOut)).toEqual([
      'it cannot edit',
      'it cannot deduplicate: people may see a message twice',
      'it does not search',
      'it shows none',
    ]);
  });
});
