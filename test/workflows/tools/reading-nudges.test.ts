import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { textOf } from '../../../src/contracts/message-text.js';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { editFile } from '../../support/tools/sample-tools.js';
import { useWorkers } from '../../support/use-workers.js';

const read = defineTool({
  name: 'read_file',
  description: 'Reads.',
  parameters: z.strictObject({ path: z.string() }),
  effect: 'read',
  execute: ({ path }) => `text of ${path}`,
});
type Policy = NonNullable<AgentWorkerOptions['policy']>;

const POLICY: Policy = { completion: { checks: ['edits-verified'] } };

describe('a run that reads and reads', () => {
  const { worker, start } = useWorkers();

  /** Takes these turns, then answers, and gives the nudges by the turn after which they were said. */
  async function nudgesOf(
    turns: readonly (readonly [string, string])[],
    { policy = POLICY, ...input }: Partial<RunInput> & { readonly policy?: Policy } = {},
  ) {
    const on = await worker({
      model: (_, n) => {
        const [tool, path] = turns[n - 1] ?? [];
        return tool === undefined ? say('There is nothing to change here.') : call([tool, { path }]);
      },
      tools: [read, editFile],
      policy,
    });
    const run = await start(on, { task: 'put the header right', ...input });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    return (await run.messages()).filter(({ origin }) => origin === 'nudge').map((message) => [message.turn, textOf(message)] as const);
  }

  it('D-15: is nudged after 4, 6 and 8 turns that only read, each once and ever more urgently', async () => {
    const nudges = await nudgesOf(files(10));
    expect(nudges.map(([turn]) => turn)).toEqual([4, 6, 8]);
    const [first, second, third] = nudges.map(([, text]) => text);
    expect(first).toContain('If you know enough');
    expect(second).toContain('in your next turn');
    expect(third).toContain('Stop reading now');
  });

  it('D-15: gets one gentle word at 8 when its task is a question', async () => {
    const nudges = await nudgesOf(files(10), { task: 'What does the header say?' });
    expect(nudges).toEqual([[8, expect.stringContaining('answer it now')]]);
  });

  it('D-15: is told once that it reads the same file again', async () => {
    const again = ['read_file', 'a.ts'] as const;
    const nudges = await nudgesOf([again, ['read_file', 'b.ts'], again]);
    expect(nudges).toEqual([[3, expect.stringContaining('a.ts')]]);
  });

  it('D-15: is told nothing twice, also in a fresh history', async () => {
    const nudges = await nudgesOf(files(10), { bounds: { continueAsNewEvents: 20 } });
    expect(nudges.map(([turn]) => turn)).toEqual([4, 6, 8]);
  });

  it('D-15, D-30: is not nudged about edits when nothing asks for any', async () => {
    expect(await nudgesOf(files(10), { policy: {} })).toEqual([]);
  });

  it('D-15: that edits in between begins to count anew', async () => {
    const nudges = await nudgesOf([...files(3), ['edit_file', 'a.ts'], ...files(3, 10)]);
    expect(nudges).toEqual([]);
  });
});

/** Turns that read one file after the other. */
function files(count: number, from = 0): (readonly [string, string])[] {
  return Array.from({ length: count }, (_, n) => ['read_file', `f${from + n}.ts`] as const);
}
