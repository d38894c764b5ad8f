import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { until } from '../../support/use-workers.js';
import { liveProcesses } from '../../tools/support/live-processes.js';
import { executorOf, textOf, useTalkedRuns } from '../support/executor-child.js';

const run = useTalkedRuns();

describe('subprocess: its end', () => {
  test('a cancel tells the child, ends it with all that it started within five seconds, and rejects with the reason of the signal', async () => {
    const marker = `tree-${randomUUID()}`;
    const talk = run(
      executorOf(
        `
          require('node:child_process').spawn('sh', ['-c', 'trap "" TERM; sleep 60 & wait; sleep 60; : ${marker}'], { stdio: 'ignore', detached: true });
          process.on('SIGTERM', () => undefined);
          await next();
          say({ type: 'text', text: 'begun' });
          say({ type: 'text', text: 'told ' + (await next()).type });
          await wait();
        `,
        { marker },
      ),
    );
    const controller = new AbortController();
    let stoppedAt = Number.NaN;
    const [asked] = await Promise.allSettled([
      talk.ask({ signal: controller.signal }),
      until(() => talk.deltas.length > 0, 'the first word of the child').finally(() => {
        stoppedAt = Date.now();
        controller.abort(new Error('stop it'));
      }),
    ]);
    expect(asked).toMatchObject({ status: 'rejected', reason: { message: 'stop it' } });
    // the system may show a killed process for a moment
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of all that it started');
    expect(Date.now() - stoppedAt).toBeLessThan(5_000);
  });

  test('a process that waits longer than its idle time is ended, and the run fails when it goes on', async () => {
    const marker = `idle-${randomUUID()}`;
    const talk = run(executorOf(`await next(); call({ name: 'look_up' }); await wait();`, { marker, idleMs: 1_000 }));
    await talk.ask();
    expect(await liveProcesses(marker)).not.toEqual([]);
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the idle process');
    talk.results('seen');
    await expect(talk.ask()).rejects.toMatchObject({ type: 'Executor.Failed', message: expect.stringContaining('its process is gone') });
  });

  test('with resume, a process that is gone is started again with the whole transcript', async () => {
    const body = `
      const { messages } = await next();
      const results = messages.flatMap(({ parts }) => parts).filter(({ type }) => type === 'tool_result');
      if (results.length === 0) { call({ name: 'look_up' }); await wait(); }
      say({ type: 'final', text: results[0].parts[0].text });
    `;
    const marker = `resume-${randomUUID()}`;
    const talk = run(executorOf(body, { marker, idleMs: 1_000, resume: true }));
    await talk.ask();
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the idle process');
    talk.results('from before');
    expect(textOf((await talk.ask()).parts)).toBe('from before');
  });

  test('a process of an earlier run of the same name is ended, and the new run has its own', async () => {
    const body = `
      const { task } = await next();
      if (task === 'second') say({ type: 'final', text: task });
      else call({ name: 'look_up' });
      await wait();
    `;
    const marker = `anew-${randomUUID()}`;
    const talk = run(executorOf(body, { marker }), 'first');
    await talk.ask();
    const before = await liveProcesses(marker);
    talk.messages.splice(0, 2, { id: 'of-the-new-run', role: 'user', parts: [{ type: 'text', text: 'second' }] });
    expect(textOf((await talk.ask()).parts)).toBe('second');
    expect((await liveProcesses(marker)).filter((pid) => before.includes(pid))).toEqual([]);
  });

  test('one that left after its final answer is started again for a late message, where it can resume', async () => {
    const body = `const { messages } = await next(); say({ type: 'final', text: 'read ' + messages.length }); process.exit(0);`;
    const talk = run(executorOf(body, { resume: true }));
    expect(textOf((await talk.ask()).parts)).toBe('read 1');
    talk.user('one more thing');
    expect(textOf((await talk.ask()).parts)).toBe('read 3');
  });

  test('asked outside a run, as for a summary, it says that it cannot', async () => {
    const asking = executorOf('').call({
      model: 'crew',
      prompt: '',
      messages: [],
      tools: [],
      toolChoice: 'none',
      outputTokensMax: 1_000,
      idleMs: 1_000,
      signal: AbortSignal.timeout(10_000),
      onDelta: () => undefined,
    });
    await expect(asking).rejects.toMatchObject({ type: 'Executor.Failed', message: 'agent crew: it answers only within a run' });
  });
});
