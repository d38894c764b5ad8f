import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChannelDoors, type ChannelDoorsOptions, openChannelDoors } from '../../../src/cli/host/doors/channel-doors.js';
import { acquireFolderLock } from '../../../src/worker/state-folder/folder-lock.js';
import { until } from '../../support/use-workers.js';
import { BOT_TOKEN, directMessage, SIGNING_SECRET, signed } from './support/slack-server.js';

let stateDir = '';
let doors: ChannelDoors | undefined;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'perdure-doors-'));
});
afterEach(async () => {
  await doors?.close();
  doors = undefined;
  await rm(stateDir, { recursive: true, force: true });
});

/** Doors of two channels, without a Temporal server: no conversation is open. */
function opened(retryMs: number): { readonly said: string[]; readonly doors: ChannelDoors } {
  const said: string[] = [];
  const definition = { kind: 'slack', signingSecret: 'env:SECRET', botToken: 'env:TOKEN' };
  const secrets: Readonly<Record<string, string>> = { 'env:SECRET': SIGNING_SECRET, 'env:TOKEN': BOT_TOKEN };
  const keys = { resolve: (reference: string) => secrets[reference], problem: () => undefined };
  // the doors use no more of a config and of a place
  const config = { config: { channels: { first: definition, second: definition } }, keys } as unknown as ChannelDoorsOptions['config'];
  const place = { stateDir, client: {} } as unknown as ChannelDoorsOptions['place'];
  doors = openChannelDoors({ config, place, retryMs, say: (line) => said.push(line) });
  return { said, doors };
}

async function ask(name: string): Promise<number | undefined> {
  const body = directMessage('hi', '17.1');
  const webhook = doors?.webhooks.find((each) => each.name === name);
  return (await webhook?.receive({ headers: signed(body), body: Buffer.from(body) }))?.status;
}

describe('openChannelDoors', () => {
  it('channels of which one cannot be opened leave their lock to another process', async () => {
    await mkdir(join(stateDir, 'channels', 'second.jsonl'), { recursive: true });
    const { said } = opened(60_000);
    await until(() => said.length > 0, 'the failure is reported');
    expect(said).toEqual([expect.stringMatching(/^CHANNELS: the channels cannot be served, and are tried again after 60 s: .*EISDIR/u)]);
    const lock = await acquireFolderLock(join(stateDir, 'channels', 'lock'), { signal: AbortSignal.timeout(2_000) });
    await lock.release();
    expect([await ask('first'), await ask('second')]).toEqual([503, 503]);
  });

  it('channels that could not be opened are served once their fault has ended', async () => {
    const broken = join(stateDir, 'channels', 'second.jsonl');
    await mkdir(broken, { recursive: true });
    const { said } = opened(20);
    await until(() => said.length > 0, 'the failure is reported');
    await rmdir(broken);
    await until(() => said.at(-1)?.startsWith('channels: ') === true, 'the channels are served');
    expect(said.at(-1)).toBe('channels: first at /channels/first, second at /channels/second');
  });
});
