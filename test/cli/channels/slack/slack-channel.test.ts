import { afterEach, describe, expect, it } from 'vitest';
import { SlackChannel } from '../../../../src/channels/slack/slack-channel.js';
import { BOT_TOKEN, SlackServer } from '../support/slack-server.js';

const KEY = 'a'.repeat(32);
const servers: SlackServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function started(): Promise<{ readonly server: SlackServer; readonly channel: SlackChannel }> {
  const server = await SlackServer.start();
  servers.push(server);
  return { server, channel: new SlackChannel({ token: () => BOT_TOKEN, apiUrl: server.url }) };
}

function never(): AbortSignal {
  return new AbortController().signal;
}

describe('SlackChannel.find', () => {
  it('C-38: finds a message of a channel behind which people wrote hundreds of others', async () => {
    const { server, channel } = await started();
    const since = Date.now();
    const { id } = await channel.send({ conversation: 'C1', key: KEY, text: 'Once.' }, never());
    server.add('C1', 900, { at: since });
    expect(await channel.find({ conversation: 'C1', key: KEY, since }, never())).toEqual({ id });
    expect(await channel.find({ conversation: 'C1', key: 'b'.repeat(32), since }, never())).toBeUndefined();
  });

  it('C-38: finds a message of a thread that is thousands of messages long, and reads only those since it was sent', async () => {
    const { server, channel } = await started();
    const since = Date.now();
    server.add('C1', 12_000, { at: since - 86_400_000, thread: '17.1' });
    const { id } = await channel.send({ conversation: 'C1:17.1', key: KEY, text: 'Once.' }, never());
    expect(await channel.find({ conversation: 'C1:17.1', key: KEY, since }, never())).toEqual({ id });
    expect(server.calls.filter((method) => method === 'conversations.replies')).toHaveLength(1);
  });
});
