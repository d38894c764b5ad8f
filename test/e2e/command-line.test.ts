import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { until } from '../support/use-workers.js';
import { usePerdureFolders, WAIT_MS_MAX } from './support/perdure-folder.js';
import { modelEnv, useModels } from './support/use-models.js';

const STEPS = [{ toolCalls: [{ name: 'look', args: { name: 'a' } }] }, { text: 'the end' }];

describe('the command line', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('Ctrl-C lets go of a run with a hint and exit 0, a second one ends the process at once, and the run goes on either way', async () => {
    const wire = await model({ script: { steps: STEPS } });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const run = here.start(['run', 'go', '--model', 'openai/test', '--id', 'r1']);
    await here.started('look');
    // it waits for its running call: that is what the second Ctrl-C cuts short
    run.child.kill('SIGINT');
    await run.prints('detached; run r1 is kept and continues with the next perdure command in this folder');
    run.child.kill('SIGINT');
    expect(await run.exits(0)).toMatchObject({ signal: null });

    const watch = here.start(['watch', 'r1']);
    await here.started('look', 2);
    watch.child.kill('SIGINT');
    await watch.prints('run r1 is kept');
    await here.release();
    await watch.exits(0);
    expect(await here.json(['watch', 'r1'])).toMatchObject({ reason: 'completed', output: 'the end' });
  });

  it('a run whose reader has gone lets go without a word and exits 0, and the run is unaffected', async () => {
    const wire = await model({ script: { steps: STEPS } });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const run = here.start(['run', 'go', '--model', 'openai/test', '--id', 'r1', '--events']);
    await here.started('look');
    run.child.stdout?.destroy();
    await here.release();
    const { code, stderr } = await run.ended;
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/EPIPE|Error|INTERNAL/u);
    expect(await here.json(['watch', 'r1'])).toMatchObject({ reason: 'completed', output: 'the end' });
  });

  it('watch of a run that ended prints its result and exits 0; without a terminal there are plain lines and no control characters', async () => {
    const wire = await model({ script: { steps: STEPS } });
    const here = await folder(modelEnv(wire));
    const run = await here.start(['run', 'go', '--model', 'openai/test', '--id', 'r1']).exits(0);
    expect(run.stdout).toBe('the end\n');
    const watch = await here.start(['watch', 'r1']).exits(0);
    expect(watch.stdout).toBe('the end\n');
    const printed = run.stderr + watch.stderr;
    expect(['\u001b', '\r'].filter((control) => printed.includes(control))).toEqual([]);
  });

  it('what the SDK has to say goes to the log of the folder: stdout has the one JSON document alone', async () => {
    const wire = await model({ script: { steps: STEPS } });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const run = here.start(['run', 'go', '--model', 'openai/test', '--id', 'r1', '--json']);
    await here.started('look');
    const client = await here.temporal();
    // the worker has no such workflow, which is worth a warning to the SDK's core
    const stranger = await client.workflow.start('stranger', { taskQueue: 'perdure', workflowId: 'stranger' });
    const log = join(here.stateDir, 'logs', 'worker.log');
    const warned = async () => existsSync(log) && (await readFile(log, 'utf8')).includes('Failing workflow task');
    await until(warned, "the warning of the SDK's core", WAIT_MS_MAX);
    await stranger.terminate();
    await here.release();
    const { stdout } = await run.exits(0);
    expect(JSON.parse(stdout)).toMatchObject({ reason: 'completed', output: 'the end' });
  });

  it('without a server that answers, each bad address is one line with its code and exit status, and none is waited for longer than 5 s', async () => {
    const here = await folder();
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const port = portOf(silent.address());
    const run = async (code: number, name: string, address: string, ...more: string[]) => {
      const startedAt = Date.now();
      const { stderr } = await here.type(['run', 'go', '--model', 'scripted/x.yaml', '--address', address, ...more], code);
      expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(`^${name}: `)]);
      return Date.now() - startedAt;
    };
    await writeFile(join(here.dir, 'x.yaml'), 'steps: [{ text: hi }]');
    await run(2, 'TEMPORAL_ADDRESS', 'http://localhost:7233');
    await run(2, 'TEMPORAL_ADDRESS', '::1:x');
    await run(3, 'NAMESPACE_NOT_FOUND', inject('temporalAddress'), '--namespace', 'nowhere');
    const refusedMs = await run(5, 'TEMPORAL_UNREACHABLE', '127.0.0.1:1');
    const unansweredMs = await run(5, 'TEMPORAL_UNREACHABLE', `127.0.0.1:${port}`);
    silent.close();
    // both had the same machine: what one took longer is what it waited
    expect(unansweredMs - refusedMs).toBeLessThan(20_000);
  });

  it('a run on a queue without a worker is kept, says NO_WORKER, and starts when a worker comes', async () => {
    const wire = await model({ script: { steps: [{ text: 'hi' }] } });
    const here = await folder({ ...modelEnv(wire), TEMPORAL_ADDRESS: inject('temporalAddress') });
    const queue = ['--task-queue', `e2e-${process.pid}-nobody`];
    const id = `e2e-${process.pid}-kept`;
    const run = await here.type(['run', 'go', '--model', 'openai/test', '--id', id, '--no-worker', ...queue], 5);
    expect(run.stderr).toMatch(/^NO_WORKER: no worker polls queue \S+ \(checked 5 s\); run \S+ is kept/mu);
    const worker = here.start(['worker', ...queue]);
    expect(await here.json(['watch', id, ...queue])).toMatchObject({ reason: 'completed', output: 'hi' });
    expect(await worker.kill('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('an unknown run exits 3 and bad input exits 2, each with one line on stderr and, with --json, one document on stdout', async () => {
    const here = await folder();
    const commands: readonly (readonly [code: number, name: string, ...args: string[]])[] = [
      [3, 'RUN_NOT_FOUND', 'watch', 'nobody'],
      [3, 'RUN_NOT_FOUND', 'show', 'nobody'],
      [3, 'RUN_NOT_FOUND', 'steer', 'nobody', 'hello'],
      [3, 'RUN_NOT_FOUND', 'cancel', 'nobody'],
      [2, 'EMPTY_MESSAGE', 'run', '  '],
      [2, 'BAD_OPTION', 'run', 'go', '--max-turns', '0'],
      [2, 'BAD_OPTION', 'run', 'go', '--max-turns', '1.5'],
      [2, 'UNKNOWN_OPTION', 'run', 'go', '--max-turn', '3'],
      [2, 'UNKNOWN_VERB', 'rum', 'go'],
      [2, 'BAD_RUN_ID', 'run', 'go', '--id', '../x'],
      [2, 'WORKSPACE', 'run', 'go', '--workspace', 'nowhere'],
      [2, 'MISSING_ARGUMENT', 'run'],
    ];
    for (const [code, name, ...args] of commands) {
      const end = await here.type(args, code);
      const lines = end.stderr.split('\n');
      expect({ args, code: end.code, stdout: end.stdout, name: lines[0]?.split(':')[0], lines: lines.length }).toEqual({
        args,
        code,
        stdout: '',
        name,
        lines: 2,
      });
    }
    const { stdout } = await here.type(['show', 'nobody', '--json'], 3);
    expect(JSON.parse(stdout)).toEqual({ error: { code: 'RUN_NOT_FOUND', message: expect.any(String) } });
    await expect(here.server()).rejects.toThrow('no server');
  });
});

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
