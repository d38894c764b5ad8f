import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { editFile } from '../../support/tools/sample-tools.js';
import { type TestRun, useWorkers } from '../../support/use-workers.js';
import { words } from '../policies/support/transcripts.js';

/** Turns between the work and the answer; each brings about 500 tokens, and the transcript is made shorter at 800. */
const TURNS = 8;
const WINDOW = 16_000;
const COMPACTION = { strategies: ['trim' as const], softFraction: 0.05, keepRecentTokens: 0 };

const plan = defineTool({
  name: 'update_plan',
  description: 'Notes the plan.',
  parameters: z.strictObject({ steps: z.array(z.strictObject({ step: z.string(), status: z.string() })), note: z.string().optional() }),
  effect: 'idempotent',
  execute: ({ note }) => `noted ${note ?? ''} ${words(2_000)}`,
});
const look = defineTool({
  name: 'look',
  description: 'Reads a part.',
  parameters: z.strictObject({ part: z.number() }),
  effect: 'read',
  execute: ({ part }) => `part ${part} ${words(2_000)}`,
});
const tools = [plan, editFile, look];

const noted = (status: string) => call(['update_plan', { steps: [{ step: 'ship it', status }] }]);
const nextNote = (n: number) => call(['update_plan', { steps: [], note: `${n}` }]);
const nextLook = (n: number) => call(['look', { part: n }]);
const edited = () => call(['edit_file', { path: 'src/parser.ts' }]);

/** A run that works in its first turn, goes on until that is out of its transcript, and answers; `repair` is what it does when sent back. */
interface Script {
  readonly work: () => ReturnType<typeof call>;
  readonly goOn: (n: number) => ReturnType<typeof call>;
  readonly repair?: () => ReturnType<typeof call>;
  /** What of the work stands in the transcript as long as it is there. */
  readonly trace: string;
}

const BOUNDS: readonly (readonly [string, Partial<RunInput>])[] = [
  ['in one history', {}],
  ['through fresh histories', { bounds: { continueAsNewEvents: 30 } }],
];

describe.each(BOUNDS)('the looks at the end of a run that was compacted, %s', (_, bounds) => {
  const { worker, start } = useWorkers();

  async function play(script: Script, completion: NonNullable<AgentWorkerOptions['policy']>['completion']) {
    const on = await worker({
      model: (_request, n) => answerOf(script, n),
      tools,
      policy: { completion, compaction: COMPACTION },
      contextWindow: WINDOW,
    });
    const run = await start(on, { task: 'Mend the parser.', maxTurns: 40, ...bounds });
    const result = await run.result();
    const lastRequest = on.requests[TURNS];
    if (!lastRequest) throw new Error('the run ended before it could answer');
    expect(JSON.stringify(lastRequest.messages)).not.toContain(script.trace);
    expect((await run.events()).some(({ type }) => type === 'continued')).toBe(bounds.bounds !== undefined);
    return { result, run };
  }

  it('an open plan is not forgotten', async () => {
    const script = { work: () => noted('pending'), goOn: nextLook, repair: () => noted('done'), trace: 'ship it' };
    const { result, run } = await play(script, { checks: ['plan-finished'] });
    expect(result).toMatchObject({ reason: 'completed', turns: TURNS + 3 });
    expect(await corrections(run)).toMatchObject([{ why: 'plan-finished', text: expect.stringContaining('ship it (pending)') }]);
  });

  it('D-30: an editFile that nothing looked at is asked about, once', async () => {
    const script = { work: edited, goOn: nextNote, repair: edited, trace: 'src/parser.ts' };
    const { result, run } = await play(script, { checks: ['edits-verified'] });
    expect(result).toMatchObject({ reason: 'completed', turns: TURNS + 3 });
    expect(await corrections(run)).toMatchObject([{ why: 'edits-verified', text: expect.stringContaining('src/parser.ts') }]);
  });

  it('D-16: a phase that was done is not asked for again', async () => {
    const phases = [{ name: 'change', tools: ['edit_file'] }];
    const script = { work: edited, goOn: nextLook, trace: 'src/parser.ts' };
    const { result, run } = await play(script, { checks: ['phases-done'], phases });
    expect(result).toMatchObject({ reason: 'completed', turns: TURNS + 1 });
    expect(await corrections(run)).toEqual([]);
  });

  it('D-15: each nudge of a run that only reads is said once', async () => {
    const script = { work: edited, goOn: nextLook, trace: 'src/parser.ts' };
    const { run } = await play(script, { checks: ['edits-verified'] });
    const nudges = (await run.events()).filter((event) => event.type === 'notice' && event.text.includes('turns of reading'));
    expect(nudges).toMatchObject([4, 6].map((turns) => ({ text: expect.stringContaining(`${turns} turns of reading`) })));
  });
});

function answerOf({ work, goOn, repair }: Script, n: number) {
  if (n === 1) return work();
  if (n <= TURNS) return goOn(n);
  return repair && n === TURNS + 2 ? repair() : say('The parser is mended.');
}

async function corrections(run: TestRun) {
  return (await run.events()).filter(({ type }) => type === 'answer.corrected');
}
