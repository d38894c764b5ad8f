import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { GatewayClient, type ServerEvent } from '../../cli/http/support/gateway-client.js';
import { CliFolder, type Command } from '../../cli/support/cli.js';
import { freePort } from '../../support/free-port.js';

const WORDS = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
/** An answer that streams for six seconds. */
const SCRIPT = { steps: [{ text: WORDS, chunkDelayMs: 100 }] };

interface Served {
  readonly command: Command;
  readonly client: GatewayClient;
}

describe('perdure serve', { timeout: 180_000 }, () => {
  const folders: CliFolder[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await folder.remove();
  });

  async function makeFolder(): Promise<CliFolder> {
    const folder = await CliFolder.make();
    folders.push(folder);
    await writeFile(join(folder.path, 'perdure.config.json'), JSON.stringify({ model: 'scripted/script.json' }));
    await writeFile(join(folder.path, 'script.json'), JSON.stringify(SCRIPT));
    return folder;
  }

  it('U10, C-38: a gateway is killed in mid-stream; the client resumes at another one without a gap, a double or a reset', async () => {
    const folder = await makeFolder();
    const worker = folder.start(['dev']);
    await worker.saw('worker running');
    const first = await serve(folder, '--no-worker');
    const second = await serve(folder, '--no-worker');
    const runId = await first.client.start();
    const seen = await followAndKill(first, runId);
    const rest = await second.client.events(runId, seen.at(-1)?.id);
    const events = [...seen, ...rest];
    expect(textOf(events)).toBe(WORDS);
    expect(events.some(({ event }) => event === 'attempt.reset')).toBe(false);
    const numbers = events.flatMap(({ event, data }) => (event.endsWith('.delta') || event === 'result' ? [] : [Number(data['seq'])]));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    second.command.child.kill('SIGTERM');
    expect((await second.command.ended).code).toBe(0);
  });

  it('C-38: the gateway and its worker are killed together; the next one in the folder finishes the run, and the text is whole', async () => {
    const folder = await makeFolder();
    const first = await serve(folder);
    const runId = await first.client.start();
    const seen = await followAndKill(first, runId);
    const second = await serve(folder);
    const events = [...seen, ...(await second.client.events(runId, seen.at(-1)?.id))];
    expect(events.filter(({ event }) => event === 'attempt.reset')).toHaveLength(1);
    expect(textOf(events)).toBe(WORDS);
    expect(events.at(-1)).toMatchObject({ event: 'result', data: { result: { reason: 'completed', output: WORDS } } });
    second.command.child.kill('SIGINT');
    expect((await second.command.ended).code).toBe(0);
  });

  it('X14: asks the function of its config for each token; a file of tokens beside it is refused', async () => {
    const folder = await makeFolder();
    await rm(join(folder.path, 'perdure.config.json'));
    await writeFile(join(folder.path, 'perdure.config.mjs'), TOKENS_CONFIG);
    expect(await folder.start(['serve', '--tokens', 'tokens.json']).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('BAD_OPTION: tokens: the config has gateway.tokens'),
    });
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const command = folder.start(['serve', '--port', String(port)]);
    await command.saw(`gateway at ${url}, tokens by gateway.tokens of the config`);
    const [ann, eve] = [new GatewayClient(url, 'of-ann'), new GatewayClient(url, 'of-eve')];
    expect((await ann.ask('/v1/runs')).status).toBe(200);
    expect((await ann.ask('/v1/runs', { body: { task: 'x' } })).status).toBe(403);
    expect((await eve.ask('/v1/runs')).status).toBe(401);
    command.child.kill('SIGTERM');
    expect((await command.ended).code).toBe(0);
  });

  it('says what is wrong with its options, and exits 2', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder.path, 'tokens.json'), '[{"tokenSha256":"abc","rights":["run"]}]');
    expect(await folder.start(['serve', '--port', 'x']).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('BAD_OPTION: port'),
    });
    expect(await folder.start(['serve', '--tokens', 'nowhere.json']).ended).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^BAD_TOKENS: nowhere\.json cannot be read \(ENOENT\)\n$/u),
    });
    expect(await folder.start(['serve', '--tokens', 'tokens.json']).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('BAD_TOKENS: tokens.json: 0.tokenSha256: is not 64 hexadecimal digits'),
    });
  });
});

/** A config whose function knows one token. */
const TOKENS_CONFIG = `export default {
  model: 'scripted/script.json',
  gateway: { tokens: (token) => (token === 'of-ann' ? { name: 'ann', rights: ['read'] } : undefined) },
};
`;

async function serve(folder: CliFolder, ...args: readonly string[]): Promise<Served> {
  const port = await freePort();
  const command = folder.start(['serve', '--port', String(port), ...args]);
  const file = join(folder.path, '.perdure', 'gateway-token');
  await command.saw(`gateway at http://127.0.0.1:${port}, token `);
  const token = (await readFile(file, 'utf8')).trim();
  await command.saw(`token ${token} (in ${file})`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  return { command, client: new GatewayClient(`http://127.0.0.1:${port}`, token) };
}

/** Follows a run until it has some words, and kills the gateway in the middle of the answer. */
async function followAndKill({ command, client }: Served, runId: string): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  try {
    for await (const event of client.follow(`/v1/runs/${runId}/events`)) {
      events.push(event);
      if (events.filter((each) => each.event === 'text.delta').length === 5) command.child.kill('SIGKILL');
    }
  } catch {
    // the connection was cut
  }
  expect(events.some(({ event }) => event === 'result')).toBe(false);
  return events;
}

/** The text of the run's only turn, as a client shows it. */
function textOf(events: readonly ServerEvent[]): string {
  let text = '';
  for (const { event, data } of events) {
    if (event === 'attempt.reset') text = '';
    if (event === 'text.delta') text += String(data['text']);
  }
  return text;
}
