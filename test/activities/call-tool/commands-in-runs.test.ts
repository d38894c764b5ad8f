import { randomUUID } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { toolCallsOf } from '../../../src/contracts/message-text.js';
import { createRunCommand } from '../../../src/tools/run-command.js';
import { call, say } from '../../support/agent-worker.js';
import { type TestRun, until, useWorkers } from '../../support/use-workers.js';
import { liveProcesses } from '../../tools/support/live-processes.js';
import { resultTexts } from '../support/result-texts.js';

const runCommand = createRunCommand({ sandbox: {}, protected: [] });

let workspace: string;
beforeAll(async () => {
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'perdure-commands-')));
});
afterAll(async () => {
  await rm(workspace, { recursive: true, force: true });
});

describe('a command of a run', () => {
  const { worker, start } = useWorkers();

  it('C8: that exceeds its time is ended with all it started; the model reads what it had printed; it is not run again', async () => {
    const marker = `sleep-${randomUUID()}`;
    const command = `echo begun; (exec -a ${marker} sleep 300) & while :; do sleep 0.1; done`;
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['run_command', { command, timeoutMs: 5_000 }]) : say('It takes too long.')),
      tools: [runCommand],
      policy: {},
    });
    const run = await start(on, { context: { workspace } });
    await until(async () => (await liveProcesses(marker)).length > 0, 'the command');
    const startedAt = Date.now();
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of all it started');
    expect(Date.now() - startedAt).toBeGreaterThan(1_000);
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 1 });
    const [text] = resultTexts(on.requests[1]?.messages ?? []);
    expect(text).toMatch(/timed out after 5s/u);
    expect(text).toContain('begun');
    expect(await outcomes(run)).toEqual(['true failed']);
  });

  it('C9: that computes without end blocks neither its worker nor other runs, and is ended when its time is over', async () => {
    const busy = 'while :; do :; done';
    const on = await worker({
      model: ({ messages }) => {
        const isBusy = JSON.stringify(messages[0]).includes('busy');
        return isBusy && messages.flatMap(toolCallsOf).length === 0
          ? call(['run_command', { command: busy, timeoutMs: 15_000 }])
          : say('done');
      },
      tools: [runCommand],
      policy: {},
    });
    const run = await start(on, { task: 'be busy', context: { workspace } });
    await until(async () => (await run.progress()).phase === 'tools', 'the command');
    const others = await Promise.all(Array.from({ length: 3 }, () => start(on, { task: 'answer' })));
    const results = await Promise.all(others.map((other) => other.result()));
    expect(results.map(({ output }) => output)).toEqual(['done', 'done', 'done']);
    expect(await run.progress()).toMatchObject({ phase: 'tools' });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done' });
    expect(resultTexts(await run.messages())[0]).toContain('timed out after 15s');
  });

  it.each([
    ['without network', createRunCommand({ sandbox: {}, protected: [] }), 'ECONNREFUSED'],
    ['with the network of the host', createRunCommand({ sandbox: { network: 'host' }, protected: [] }), 'reached'],
  ])('the server that runs it, where a call could approve itself, %s', async (_, tool, expected) => {
    const [host, port] = inject('temporalAddress').split(':');
    const ask = `require("net").connect(${port}, "${host}", () => { console.log("reached"); process.exit() }).on("error", (e) => console.log(e.code))`;
    const on = await worker({
      model: (__, n) => (n === 1 ? call(['run_command', { command: `node -e '${ask}'` }]) : say('done')),
      tools: [tool],
      policy: {},
    });
    const run = await start(on, { context: { workspace } });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(resultTexts(on.requests[1]?.messages ?? [])[0]).toBe(`exit code 0\n${expected}`);
  });
});

/** How the calls of a run ended, as its events tell it. */
async function outcomes(run: TestRun): Promise<string[]> {
  return (await run.events()).flatMap((event) => (event.type === 'tool.result' ? [`${event.isError} ${event.outcome}`] : []));
}
