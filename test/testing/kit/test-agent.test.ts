import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { expectEvent, findEvents, testAgent } from '../../../src/testing/index.js';

const address = inject('temporalAddress');

const lookUp = defineTool({
  name: 'find_order',
  description: 'Find an order.',
  parameters: z.strictObject({ number: z.number() }),
  effect: 'read',
  execute: ({ number }) => {
    if (number === 9) throw new Error('order 9 does not exist');
    return { number, status: 'shipped' };
  },
});
const script = {
  steps: [
    { toolCalls: [{ name: 'find_order', args: { number: 7 } }] },
    { text: 'Order 7 is shipped.', expect: { lastToolResult: 'shipped' } },
  ],
};

describe('D2: testAgent', () => {
  it('gives the result, the transcript, the events and the effects of a run', async () => {
    const run = await testAgent({
      agent: { description: 'Answers.', prompt: 'You answer.', tools: ['find_order'] },
      tools: [lookUp],
      script,
      task: 'Where is 7?',
      address,
    });
    expect(run.result).toMatchObject({ reason: 'completed', output: 'Order 7 is shipped.', toolCalls: 1 });
    expect(run.transcript.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(run.effects).toMatchObject([{ tool: 'find_order', args: { number: 7 }, turn: 1, result: { number: 7, status: 'shipped' } }]);
    expect(run.effects[0]?.idempotencyKey).toContain(run.result.runId);
    expect(expectEvent(run.events, { type: 'tool.call', tool: 'find_order' }).turn).toBe(1);
    expect(findEvents(run.events, { type: 'run.ended', reason: 'completed' })).toHaveLength(1);
  });

  it('two runs at the same time do not see each other, and a tool of the test replaces one of the config', async () => {
    const stub = defineTool({ ...lookUp, execute: () => 'shipped by the stub' });
    const config = { tools: [lookUp] };
    const [real, stubbed] = await Promise.all([
      testAgent({ config, script, task: 'x', address }),
      testAgent({ config, tools: [stub], script, task: 'x', address }),
    ]);
    expect(real.effects.map(({ result }) => result)).toEqual([{ number: 7, status: 'shipped' }]);
    expect(stubbed.effects.map(({ result }) => result)).toEqual(['shipped by the stub']);
  });

  it('notes what a tool throws, and built-in tools too', async () => {
    const workspace = await scratch();
    const steps = [
      { toolCalls: [{ name: 'find_order', args: { number: 9 } }] },
      { toolCalls: [{ name: 'write_file', args: { path: 'a.txt', content: 'x' } }] },
      { text: 'Done.' },
    ];
    const { effects } = await testAgent({ tools: [lookUp], script: { steps }, task: 'x', context: { workspace }, address });
    expect(effects.map(({ tool, error }) => [tool, error])).toEqual([
      ['find_order', new Error('order 9 does not exist')],
      ['write_file', undefined],
    ]);
  });

  it('plays a config file and a script file with the agents beside it; a schema types the answer', async () => {
    const folder = await scratch();
    await writeFile(
      join(folder, 'perdure.config.mjs'),
      'export default { agents: { judge: { description: "Judges.", prompt: "You judge." } } };',
    );
    await writeFile(join(folder, 'answers.yaml'), `steps:\n  - text: '{ "approved": true }'\n`);
    const { result } = await testAgent({
      config: join(folder, 'perdure.config.mjs'),
      agent: 'judge',
      script: join(folder, 'answers.yaml'),
      task: 'Judge.',
      outputSchema: z.strictObject({ approved: z.boolean() }),
      address,
    });
    expect(result.structured?.approved).toBe(true);
  });

  it('`during` controls the run: it approves a pending call', async () => {
    const refund = defineTool({ ...lookUp, effect: 'once', approval: 'always' });
    const { events, effects } = await testAgent({
      tools: [refund],
      script,
      task: 'x',
      address,
      during: async (run) => {
        await expect.poll(async () => (await run.approvals()).pending.length).toBe(1);
        const { pending } = await run.approvals();
        await run.approve(pending[0]?.callId ?? '', { by: 'test' });
      },
    });
    expectEvent(events, { type: 'approval.decided', decision: 'approved', by: 'test' });
    expect(effects).toHaveLength(1);
  });

  it('a run that does not end is reported with what it waits for', async () => {
    const refund = defineTool({ ...lookUp, effect: 'once', approval: 'always' });
    const error = await testAgent({ tools: [refund], script, task: 'x', address, timeoutMs: 20_000 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'TEST_TIMEOUT', message: expect.stringMatching(/within 20000 ms; it is waiting: .*approval/u) });
  });

  it('mistakes of the test are refused before a run starts', async () => {
    await expect(testAgent({ script: { steps: [] }, task: 'x', address })).rejects.toMatchObject({ code: 'BAD_SCRIPT' });
    await expect(testAgent({ agent: 'nobody', script, task: 'x', address })).rejects.toMatchObject({ code: 'UNKNOWN_AGENT' });
    await expect(testAgent({ config: { maxTurn: 1 } as never, script, task: 'x', address })).rejects.toMatchObject({ code: 'CONFIG' });
  });

  it('without an address, all tests of the project share one server that the first of them starts', async () => {
    const runs = await Promise.all([1, 2].map(() => testAgent({ tools: [lookUp], script, task: 'x', say: () => undefined })));
    expect(runs.map(({ result }) => result.reason)).toEqual(['completed', 'completed']);
  });
});

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-kit-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
