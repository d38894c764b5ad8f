import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { holdTimers } from '../../tools/support/hold-timers.js';
import { liveProcesses } from '../../tools/support/live-processes.js';
import { executorOf, useTalkedRuns } from '../support/executor-child.js';

const run = useTalkedRuns();

/** How a child may fail, and what its error says. */
const FAILURES: readonly (readonly [why: string, body: string, message: RegExp])[] = [
  [
    'a non-zero exit',
    `await next(); console.error('no model'); process.exit(3);`,
    /^agent crew: it ended with exit code 3 .*; stderr: no model$/u,
  ],
  ['an exit without an answer', `await next(); process.exit(0);`, /^agent crew: it ended with exit code 0 before it answered$/u],
  ['an exception', `await next(); throw new Error('bad day');`, /^agent crew: it ended with exit code 1 .*stderr: .*Error: bad day/su],
  ['a signal', `await next(); process.kill(process.pid, 'SIGKILL');`, /^agent crew: it ended with exit code 137 before/u],
  [
    'an error line',
    `await next(); say({ type: 'error', message: 'model is asleep' }); await wait();`,
    /it reported an error: model is asleep$/u,
  ],
  [
    'an unknown type',
    `await next(); say({ type: 'tool_call', calls: [] }); await wait();`,
    /unknown type "tool_call" \(did you mean tool_calls\?\)$/u,
  ],
  [
    'calls without a name',
    `await next(); call({ args: {} }); await wait();`,
    /broke the protocol: a line of type tool_calls: calls\.0\.name: /u,
  ],
  ['no calls at all', `await next(); call(); await wait();`, /broke the protocol: a line of type tool_calls: calls: /u],
  ['arguments that are no object', `await next(); call({ name: 'x', args: '{}' }); await wait();`, /calls\.0\.args: /u],
  [
    'half a line of the protocol',
    `await next(); console.log('{"type":"final","text":"cut'); await wait();`,
    /broke the protocol: a line is not JSON/u,
  ],
  [
    'a line nested too deeply',
    `await next(); console.log('{"type":"tool_calls","calls":[{"name":"x","args":{"a":' + '['.repeat(900_000)); await wait();`,
    /broke the protocol: a line is /u,
  ],
  ['a huge line', `await next(); process.stdout.write('x'.repeat(3_000_000)); await wait();`, /it wrote a line longer than 2097152 bytes/u],
  [
    'endless output',
    `await next(); const line = 'x'.repeat(1_000) + '\\n'; for (;;) if (!process.stdout.write(line)) await new Promise((go) => process.stdout.once('drain', go));`,
    /it writes without end; output: /u,
  ],
];

describe('subprocess: what fails', () => {
  test.each(FAILURES)('%s is Executor.Failed, which says so, and nothing of the process is left', async (_why, body, message) => {
    const marker = `failed-${randomUUID()}`;
    const talk = run(executorOf(body, { marker }));
    await expect(talk.ask()).rejects.toMatchObject({
      name: 'ModelError',
      type: 'Executor.Failed',
      message: expect.stringMatching(message),
    });
    expect(await liveProcesses(marker)).toEqual([]);
  });

  test('silence past its time fails with the time and what it did last', async () => {
    const timeoutMs = 60_000;
    const body = `await next(); say({ type: 'progress', text: 'step 2 of 3' }); say({ type: 'text', text: 'begun' }); await wait();`;
    const talk = run(executorOf(body, { timeoutMs }));
    // the time passes once the child has begun, however long a busy machine takes to start it
    const pass = holdTimers();
    await expect(talk.ask({ onDelta: () => pass(timeoutMs) })).rejects.toThrow(
      'agent crew: no answer for 60 s (its last progress: step 2 of 3)',
    );
  });

  test('a program that is not there is told by its name', async () => {
    const talk = run(executorOf('', { command: 'no-such-framework' }));
    await expect(talk.ask()).rejects.toThrow(/^agent crew: it ended with exit code 127 before it answered; stderr: .*no-such-framework/u);
  });

  test('a crash while the tools run is told with the next question', async () => {
    const talk = run(executorOf(`await next(); call({ name: 'look_up' }); console.error('out of memory'); process.exit(9);`));
    await talk.ask();
    talk.results('seen');
    await expect(talk.ask()).rejects.toThrow('it ended with exit code 9 before it answered; stderr: out of memory');
  });

  test('one that left after its final answer cannot be told of a late message, and its error says what would help', async () => {
    const talk = run(executorOf(`await next(); say({ type: 'final', text: 'bye' }); process.exit(0);`));
    await talk.ask();
    talk.user('one more thing');
    await expect(talk.ask()).rejects.toThrow(/resume: true is started again/u);
  });

  test('of a long error output the end is told, without colours, within two KiB', async () => {
    const body = `await next(); console.error('x'.repeat(100_000) + '\\u001b[31mthe last word\\u001b[0m'); process.exit(1);`;
    const error = await run(executorOf(body))
      .ask()
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    const { message } = error as Error;
    expect(message).toMatch(/ stderr: … x+the last word$/u);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(2_048);
  });

  test('a value that came by reference is in no error, whole or in part', async () => {
    const value = `Kanarie${randomUUID()}`;
    const keys = captureKeys({ CHILD_KEY: value }, ['env:CHILD_KEY']);
    const body = `await next(); console.error('refused: ' + process.env.MODEL_KEY + ' and ' + process.env.MODEL_KEY.slice(4, 20)); say({ type: 'progress', text: process.env.MODEL_KEY }); process.exit(1);`;
    const talk = run(executorOf(body, { keys, env: { MODEL_KEY: 'env:CHILD_KEY' } }));
    await expect(talk.ask()).rejects.toThrow(
      /its last progress: \[secret env:CHILD_KEY\].*stderr: refused: \[secret env:CHILD_KEY\] and \[redacted\]$/u,
    );
  });
});
