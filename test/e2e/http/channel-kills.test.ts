import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { BOT_TOKEN, directMessage, SIGNING_SECRET, SlackServer, signed } from '../../cli/channels/support/slack-server.js';
import { CliFolder, type Command } from '../../cli/support/cli.js';
import { freePort } from '../../support/free-port.js';
import { until } from '../../support/use-workers.js';

const PARAGRAPHS = Array.from({ length: 12 }, (_, index) => `Paragraph ${index} of the answer, ${'with some words '.repeat(4)}end.`);
/** An answer that streams for about ten seconds. */
const SCRIPT = { steps: [{ text: PARAGRAPHS.join('\n\n'), chunkDelayMs: 50 }] };
const KEYS = { SLACK_SIGNING_SECRET: SIGNING_SECRET, SLACK_BOT_TOKEN: BOT_TOKEN };

describe('a channel under kills', { timeout: 240_000 }, () => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  async function start(): Promise<{ readonly folder: CliFolder; readonly server: SlackServer }> {
    const server = await SlackServer.start();
    ends.push(() => server.stop());
    const folder = await CliFolder.make();
    ends.push(() => folder.remove());
    const team = { kind: 'slack', signingSecret: 'env:SLACK_SIGNING_SECRET', botToken: 'env:SLACK_BOT_TOKEN', apiUrl: server.url };
    const channels = { team: { ...team, blocks: { charsMin: 60, charsMax: 120, idleMs: 0 } } };
    await writeFile(join(folder.path, 'perdure.config.json'), JSON.stringify({ model: 'scripted/script.json', channels }));
    await writeFile(join(folder.path, 'script.json'), JSON.stringify(SCRIPT));
    return { folder, server };
  }

  it('C-38: the gateway is killed in mid-answer, and again inside of a send; each block is shown once, in order', async () => {
    const { folder, server } = await start();
    const worker = folder.start(['dev'], KEYS);
    await worker.saw('worker running');
    const first = await serve(folder, '--no-worker');
    const body = directMessage('tell me', '17.1');
    expect(await send(first.url, body)).toBe(200);
    expect(await send(first.url, body), 'the platform repeats an event').toBe(200);
    await until(() => server.messages.length >= 2, 'two blocks are sent');
    await kill(first.command);
    const second = await serve(folder, '--no-worker');
    await until(() => server.messages.length >= 4, 'four blocks are sent');
    server.failNext('chat.postMessage', { kind: 'held' });
    await until(() => server.held > 0, 'a block is on its way');
    await kill(second.command);
    const third = await serve(folder, '--no-worker');
    expect(await send(third.url, body), 'the platform repeats an event').toBe(200);
    await until(() => server.messages.length >= PARAGRAPHS.length, 'all blocks are sent');
    await until(() => isSettled(folder), 'the message is settled');
    expect(server.texts('D1')).toEqual(PARAGRAPHS);
    expect(new Set(server.messages.map(({ key }) => key)).size).toBe(PARAGRAPHS.length);
    third.command.child.kill('SIGTERM');
    expect((await third.command.ended).code).toBe(0);
  });

  it('the gateway and its worker are killed together: another attempt of the answer continues the blocks', async () => {
    const { folder, server } = await start();
    const first = await serve(folder);
    expect(await send(first.url, directMessage('tell me', '17.1'))).toBe(200);
    await until(() => server.messages.length >= 3, 'three blocks are sent');
    await kill(first.command);
    const second = await serve(folder);
    await until(() => server.messages.length >= PARAGRAPHS.length, 'all blocks are sent', 90_000);
    expect(server.texts('D1')).toEqual(PARAGRAPHS);
    second.command.child.kill('SIGTERM');
    const { code, stderr } = await second.command.ended;
    expect([code, stderr.includes(BOT_TOKEN), stderr.includes(SIGNING_SECRET)]).toEqual([0, false, false]);
  });
});

interface Served {
  readonly command: Command;
  readonly url: string;
}

/** Starts a gateway, and waits until it serves the channels. */
async function serve(folder: CliFolder, ...args: readonly string[]): Promise<Served> {
  const port = await freePort();
  const command = folder.start(['serve', '--port', String(port), ...args], KEYS);
  await command.saw('channels: team at /channels/team');
  await command.saw(`gateway at http://127.0.0.1:${port}`);
  return { command, url: `http://127.0.0.1:${port}/channels/team` };
}

async function kill({ child, ended }: Command): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

/** Posts an event that Slack signed. */
async function send(url: string, body: string): Promise<number> {
  const response = await fetch(url, { method: 'POST', body, headers: signed(body) });
  await response.arrayBuffer();
  return response.status;
}

async function isSettled(folder: CliFolder): Promise<boolean> {
  return (await readFile(join(folder.path, '.perdure', 'channels', 'team.jsonl'), 'utf8')).includes('"type":"settled"');
}
