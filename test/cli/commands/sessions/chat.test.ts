import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliFolder, type CommandEnd } from '../../support/cli.js';

const SCRIPT = { steps: [{ text: 'first' }, { text: 'second\nof two lines' }, { text: 'third' }] };
const MODEL = ['--model', 'scripted/answers.json'];

describe('sessions on the command line', { timeout: 120_000 }, () => {
  let folder: CliFolder;
  beforeAll(async () => {
    folder = await CliFolder.make();
    await writeFile(join(folder.path, 'answers.json'), JSON.stringify(SCRIPT));
  });
  afterAll(() => folder.remove());

  /** Runs `chat` with these lines as its input. */
  async function chat(input: string, ...args: readonly string[]): Promise<CommandEnd> {
    const { command, args: all, cwd, env } = folder.program(['chat', ...args, ...MODEL]);
    const child = spawn(command, all, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    const seen = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (seen.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (seen.stderr += chunk.toString()));
    child.stdin.end(input);
    await once(child, 'close');
    return { code: child.exitCode, ...seen };
  }

  it('A-29: `chat` in a pipe sends a line after the answer to the one before, and prints answers alone', async () => {
    const { code, stdout, stderr } = await chat('one\n\ntwo\n', '--session', 'pipe');
    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: 'first\nsecond\nof two lines\n' });
    const again = await chat('three', '--session', 'pipe');
    expect(again).toMatchObject({ code: 0, stdout: 'third\n' });
    const { stdout: shown } = await folder.run(['session', 'pipe', '--json']);
    expect(JSON.parse(shown)).toMatchObject({ runs: ['pipe/1', 'pipe/2', 'pipe/3'].map((runId) => ({ runId, reason: 'completed' })) });
  });

  it('A-30: `send` prints a receipt, `run --session` the result, `sessions` lists the session', async () => {
    const run = await folder.run(['run', 'one', '--session', 'two', '--id', 'm1', '--json', ...MODEL]);
    expect(JSON.parse(run.stdout)).toMatchObject({ runId: 'two/1', reason: 'completed', output: 'first' });
    const sent = await folder.run(['send', 'two', 'more', '--id', 'm2', '--json']);
    expect(JSON.parse(sent.stdout)).toEqual({ id: 'm2', accepted: true, position: 0, duplicate: false });
    const again = await folder.run(['send', 'two', 'more', '--id', 'm2', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ accepted: true, duplicate: true });
    await expect
      .poll(async () => (await folder.run(['session', 'two'])).stdout, { timeout: 60_000 })
      .toMatch(/two\/2 +completed, answers m2/u);
    expect(await folder.run(['unsend', 'two', 'm2'])).toMatchObject({ code: 4, stderr: expect.stringMatching(/^MESSAGE_IN_WORK: /mu) });
    expect(await folder.run(['unsend', 'nobody', 'm2'])).toMatchObject({ code: 3, stderr: expect.stringMatching(/^NO_SESSION: /mu) });
    await expect.poll(async () => (await folder.run(['sessions'])).stdout, { timeout: 60_000 }).toMatch(/^two +open +default /mu);
  });

  it('A-30: bad input is refused before anything is started', async () => {
    expect(await folder.run(['send', '../x', 'hi'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/^BAD_SESSION_ID: /u) });
    expect(await folder.run(['send', 'k', ' '])).toMatchObject({ code: 2, stderr: expect.stringMatching(/^EMPTY_MESSAGE: /u) });
    expect(await folder.run(['send', 'k', 'hi', '--queue', 'now'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^BAD_OPTION: queue/u),
    });
  });
});
