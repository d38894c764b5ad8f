import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { AgentClient } from '../../src/client/agent-client.js';
import { CliFolder, type CommandEnd } from './support/cli.js';
import { commandHere } from './support/command-here.js';

let folder: CliFolder;
const home = process.cwd();
beforeAll(async () => {
  folder = await CliFolder.make();
  await writeFile(join(folder.path, 'a-file'), '');
  process.chdir(folder.path);
});
afterAll(async () => {
  process.chdir(home);
  await folder.remove();
});

const there = (): string[] => ['--address', inject('temporalAddress')];

/** A command in this process, which stands in the folder: quick, and all but the wiring of the process is real. */
const here = (args: readonly string[]): Promise<CommandEnd> => commandHere(...args);

const NO_SUCH_PROVIDER = /^NO_MODEL: model opnai\/m: unknown provider "opnai" \(did you mean openai\?\).*\n$/u;

describe('bad input: one line with its code, its exit status, and nothing created', () => {
  it.each<[string, string[], number, RegExp]>([
    ['B1: an empty task', ['run', ' '], 2, /^EMPTY_MESSAGE: message has no text and no attachment\n$/u],
    ['B1: an empty message', ['steer', 'r', ''], 2, /^EMPTY_MESSAGE: /u],
    [
      'a mode that there is not',
      ['steer', 'r', 'x', '--mode', 'now'],
      2,
      /^BAD_OPTION: mode: boundary, preempt or interrupt, got "now"\n$/u,
    ],
    ['a time to live without a unit', ['steer', 'r', 'x', '--ttl', '90'], 2, /^BAD_OPTION: ttl: a duration such as 90s/u],
    ['a hold of more than a day', ['hold', 'r', '--ttl', '2d'], 2, /^BAD_OPTION: ttl: 1s to 1d, got "2d"\n$/u],
    ['B4: a bad session', ['run', 'x', '--session', '../x'], 2, /^BAD_SESSION_ID: use 1–200 characters of /u],
    ['B4: a bad run id', ['run', 'x', '--id', 'a/b'], 2, /^BAD_RUN_ID: use 1–200 characters of /u],
    ['B9: a cap of nothing', ['run', 'x', '--max-turns', '0'], 2, /^BAD_OPTION: maxTurns: integer 1–10000, got 0\n$/u],
    ['B9: a cap below nothing', ['run', 'x', '--max-turns', '-1'], 2, /^BAD_OPTION: maxTurns: integer 1–10000, got -1\n$/u],
    ['B9: a cap that is no number', ['run', 'x', '--max-turns', 'ten'], 2, /^BAD_OPTION: maxTurns: integer 1–10000, got "ten"\n$/u],
    ['B9: no value at all', ['run', 'x', '--max-turns'], 2, /^BAD_OPTION: /u],
    ['B10: an unknown option', ['run', 'x', '--maxturn', '5'], 2, /^UNKNOWN_OPTION: --maxturn \(did you mean --max-turns\?\)\n$/u],
    ['B10: an unknown verb', ['rnu', 'x'], 2, /^UNKNOWN_VERB: rnu \(did you mean run\?\)\n$/u],
    ['no verb', [], 2, /^BAD_USAGE: no command given\. Run 'perdure --help' for a list\.\n$/u],
    ['no task', ['run'], 2, /^MISSING_ARGUMENT: /u],
    ['a task without quotes', ['run', 'do', 'it'], 2, /^BAD_USAGE: .*\. Put the text in quotes\.\n$/u],
    ['a deadline without a unit', ['run', 'x', '--deadline', '90'], 2, /^BAD_OPTION: deadline: a duration such as 90s/u],
    ['what there is not at a budget', ['run', 'x', '--on-budget', 'stop'], 2, /^BAD_OPTION: onBudget: finish or ask, got "stop"\n$/u],
    [
      'an output schema that is not there',
      ['run', 'x', '--output-schema', 'none.json'],
      2,
      /^BAD_OPTION: outputSchema: "none\.json" does not exist\n$/u,
    ],
    [
      'an output schema that is no JSON',
      ['continue', 'r', '--output-schema', 'a-file'],
      2,
      /^BAD_OPTION: outputSchema: "a-file" is not valid JSON: /u,
    ],
    ['an output schema that is a folder', ['start', 'x', '--output-schema', '.'], 2, /^BAD_OPTION: outputSchema: "\." is not a file\n$/u],
    [
      'B10: nearly --output-schema',
      ['run', 'x', '--output-shema', 'f'],
      2,
      /^UNKNOWN_OPTION: --output-shema \(did you mean --output-schema\?\)\n$/u,
    ],
    ['two ways of output', ['run', 'x', '--json', '--events'], 2, /^BAD_OPTION: --json and --events cannot be combined\n$/u],
    ['B17: an address with a scheme', ['show', 'r', '--address', 'http://host:7233'], 2, /^TEMPORAL_ADDRESS: use host:port/u],
    ['B17: an empty address', ['ls', '--address', ''], 2, /^TEMPORAL_ADDRESS: use host:port/u],
    ['B17: nothing listens', ['show', 'r', '--address', '127.0.0.1:1'], 5, /^TEMPORAL_UNREACHABLE: 127\.0\.0\.1:1 \(tls=off\)/u],
    ['B28: a workspace that is not there', ['run', 'x', '--workspace', 'missing'], 2, /^WORKSPACE: ".*missing" does not exist\n$/u],
    ['B28: a file as workspace', ['run', 'x', '--workspace', 'a-file'], 2, /^WORKSPACE: ".*a-file" is not a folder\n$/u],
    ['B28: the root as workspace', ['run', 'x', '--workspace', '/'], 2, /^WORKSPACE: "\/" is the root folder; allow it with --i-know\n$/u],
    ['a model of no provider', ['run', 'x', '--model', 'opnai/m'], 2, NO_SUCH_PROVIDER],
    ['a model of no provider to go on with', ['continue', 'r', '--model', 'opnai/m'], 2, NO_SUCH_PROVIDER],
    ['a run that is nowhere', ['show', 'nothing'], 3, /^RUN_NOT_FOUND: no run "nothing"/u],
  ])('%s', async (_name, args, code, stderr) => {
    const end = await here(args);
    expect(end.stderr).toMatch(stderr);
    expect(end.stdout.replace(/^\{"error".*\}\n$/u, '')).toBe('');
    expect(end.code).toBe(code);
    expect(await readdir(folder.path)).toEqual(['a-file']);
  });

  it('with --json the same error is one document on stdout', async () => {
    const end = await here(['show', 'nothing', '--json']);
    expect(JSON.parse(end.stdout)).toEqual({ error: { code: 'RUN_NOT_FOUND', message: expect.stringContaining('no run "nothing"') } });
    expect(end.code).toBe(3);
  });

  it('a shown value is cut, and a stack trace comes only with --debug', async () => {
    const plain = await here(['run', 'x', '--max-turns', 'y'.repeat(500)]);
    expect(plain.stderr.length).toBeLessThan(200);
    expect(plain.stderr).not.toContain('    at ');
    const debug = await here(['--debug', 'run', 'x', '--max-turns', 'y']);
    expect(debug.stderr).toContain('    at ');
  });
});

/** The row of `doctor` about the worker of a queue, and the exit status. */
async function workerRow(queue: string) {
  const { code, stdout } = await folder.run(['doctor', '--json', '--task-queue', queue, ...there()]);
  return { code, row: (JSON.parse(stdout) as { name: string }[]).find(({ name }) => name === 'worker') };
}

describe('against a server that is named', { timeout: 60_000 }, () => {
  it('B17: an unknown namespace: exit 3', async () => {
    const end = await here(['ls', ...there(), '--namespace', 'nowhere']);
    expect(end).toMatchObject({ code: 3, stderr: expect.stringMatching(/^NAMESPACE_NOT_FOUND: nowhere/u) });
  });

  it('B17: TLS to a server that speaks none: exit 5, and no waiting for ever', async () => {
    const end = await folder.run(['ls', ...there()], { TEMPORAL_TLS: 'true' });
    expect(end).toMatchObject({ code: 5, stderr: expect.stringMatching(/^TEMPORAL_UNREACHABLE: .*tls=on/u) });
  });

  it('B18: run without a worker and without hosting one: NO_WORKER, exit 5, and the run is kept', async () => {
    const queue = ['--task-queue', `cli-${process.pid}`];
    const end = await folder.run(['run', 'x', '--no-worker', '--id', `kept-${process.pid}`, ...queue, ...there()]);
    expect(end.code).toBe(5);
    expect(end.stderr).toContain(`NO_WORKER: no worker polls queue cli-${process.pid} (checked 5 s); run kept-${process.pid} is kept`);
    const shown = await folder.run(['show', `kept-${process.pid}`, '--json', ...queue, ...there()]);
    expect(JSON.parse(shown.stdout)).toMatchObject({ progress: null, run: { status: 'running', open: true, task: 'x' } });
    expect(shown).toMatchObject({ code: 0, stderr: expect.stringContaining('NO_WORKER: ') });
  });

  it('A14: doctor says that a named server has no worker: a warning, and a failure while runs wait for one', async () => {
    const idle = `cli-idle-${process.pid}`;
    expect((await workerRow(idle)).row).toEqual({
      level: 'warn',
      name: 'worker',
      detail: `no worker polls queue ${idle}`,
      advice: "start one with 'perdure worker'",
    });
    const queue = `cli-doctor-${process.pid}`;
    const agents = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue: queue });
    await agents.start({ task: 'x', id: `waits-${process.pid}` });
    // visibility lags
    await expect.poll(async () => (await agents.list({ status: 'open' })).length, { timeout: 30_000 }).toBe(1);
    await agents.close();
    const { code, row } = await workerRow(queue);
    expect(row).toMatchObject({ level: 'fail', detail: `no worker polls queue ${queue}, but runs are open` });
    expect(code).toBe(1);
  }, 120_000);

  it('a run that is not there: exit 3, for every verb that takes one', async () => {
    for (const args of [
      ['steer', 'none', 'x'],
      ['cancel', 'none'],
      ['pause', 'none'],
      ['watch', 'none'],
      ['continue', 'none'],
    ]) {
      const end = await here([...args, ...there()]);
      expect({ args, code: end.code, line: end.stderr.split(':')[0] }).toEqual({ args, code: 3, line: 'RUN_NOT_FOUND' });
    }
  });
});

describe('as a process of its own', { timeout: 60_000 }, () => {
  it('exits with the status of its error, and tells it on stderr alone', async () => {
    expect(await folder.run(['run', 'x', '--maxturn', '5'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'UNKNOWN_OPTION: --maxturn (did you mean --max-turns?)\n',
    });
  });
});

describe('help', { timeout: 60_000 }, () => {
  it('names every verb, on stdout, exit 0; so does --version', async () => {
    const { stdout, code } = await here(['--help']);
    for (const verb of [
      'run',
      'start',
      'watch',
      'steer',
      'cancel',
      'pause',
      'resume',
      'hold',
      'release',
      'approvals',
      'approve',
      'deny',
      'extend',
      'show',
      'ls',
      'continue',
      'worker',
      'dev',
      'replay',
      'doctor',
    ]) {
      expect(stdout).toMatch(new RegExp(`^  ${verb} `, 'mu'));
    }
    expect(code).toBe(0);
    expect((await here(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/u);
  });
});
