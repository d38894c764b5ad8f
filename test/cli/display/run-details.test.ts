import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { printResult } from '../../../src/cli/display/result.js';
import { formatShown, type ShownRun } from '../../../src/cli/display/run-details.js';
import { NO_USAGE } from '../../../src/contracts/models/usage.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import type { Step } from '../../../src/contracts/schemas/step.js';
import { COMPLETED, PROGRESS } from '../support/progress.js';

const SHOWN: ShownRun = {
  questions: [],
  described: {
    runId: 'r1',
    executionId: 'e',
    status: 'running',
    open: true,
    task: 'look',
    startedAt: '2030-01-01T00:00:00.000Z',
    historyEvents: 9,
    pending: [],
  },
  progress: PROGRESS,
  result: undefined,
  uiUrl: undefined,
  waiting: [],
  steps: [],
  unread: [],
  subagents: [],
};

const RESULT: RunResult = { ...COMPLETED, runId: 'r1', models: ['m'] };

const step = (index: number): Step => ({ agent: 'a', index, status: 'success', started: 0, ended: 1_500, durationMs: 1_500, group: 'r1' });

/** Keeps what is written. */
const sinkOf = (texts: string[]): Writable =>
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      texts.push(chunk.toString());
      done();
    },
  });

describe('formatShown', () => {
  it('the last steps are shown one by one, by turn, and the number of those before them', () => {
    const steps = Array.from({ length: 6 }, (_, index) => step(index));
    steps.push({ agent: 'a', index: 6, status: 'running', started: 0, group: 'r1', toolSignature: 'read_file+list_files#0123abcd' });
    const lines = formatShown({ ...SHOWN, steps }).split('\n');
    expect(lines.filter((line) => line.startsWith('turn'))).toEqual([
      'turn           7 of 9 (model)',
      'turns          2 earlier',
      ...[3, 4, 5, 6].map((turn) => `turn ${turn}         success, 1.5 s`),
      'turn 7         running, read_file+list_files',
    ]);
  });

  it('E-21: a step is named by its turn, however many there were', () => {
    expect(formatShown({ ...SHOWN, steps: [step(119)] })).toContain('\nturn 120       success, 1.5 s');
  });

  it('what the judgement did last stands on one line, whatever a hook said', () => {
    expect(formatShown({ ...SHOWN, progress: { ...PROGRESS, lastDecision: 'hook error: block\nforged  \u001b[2Jline' } })).toContain(
      '\nlast decision  hook error: block forged line\n',
    );
  });

  it('models that are left alone, what each was used for, and the newest changes are shown', () => {
    const usage = { ...NO_USAGE, inputTokens: 1_200, outputTokens: 30 };
    const cooling = [{ model: 'p/a', credential: 'env:P_KEY', until: '2030-01-01T00:05:00.000Z', why: 'Model.RateLimited' }];
    const switches = Array.from({ length: 7 }, (_, turn) => ({ turn, from: 'p/a', to: 'q/b', why: 'Model.RateLimited' }));
    const byModel = [
      { model: 'p/a', calls: 1, usage, costUsd: 0.5 },
      { model: 'q/b', calls: 2, usage },
    ];
    const lines = formatShown({ ...SHOWN, progress: { ...PROGRESS, cooling }, result: { ...RESULT, byModel, switches } }).split('\n');
    expect(lines).toContain('cooling down   p/a with env:P_KEY until 2030-01-01 00:05:00 UTC: Model.RateLimited');
    expect(lines.filter((line) => line.startsWith('  by model'))).toEqual([
      '  by model     p/a, 1 call, 1.2k in, 30 out, $0.5000',
      '  by model     q/b, 2 calls, 1.2k in, 30 out',
    ]);
    const changes = lines.filter((line) => line.startsWith('switched'));
    expect(changes).toEqual([2, 3, 4, 5, 6].map((turn) => `switched       turn ${turn}: p/a → q/b: Model.RateLimited`));
  });

  it.each([
    [1, '1 message'],
    [2, '2 messages'],
  ])('%i queued is told as %s', (inbox, text) => {
    expect(formatShown({ ...SHOWN, progress: { ...PROGRESS, inbox } }).split('\n')).toContain(`queued         ${text}`);
  });

  it('each call that waits is shown with who asks, why, and the commands that decide', () => {
    const call = { tool: 'deploy', args: {}, hash: '', turn: 1, since: '2030-01-01T00:00:00.000Z' };
    const waiting = [
      { ...call, callId: 'c1', title: 'deploy', askedBy: 'gate', reason: 'production\nis shared' },
      { ...call, callId: 'budget', title: 'increase of the limit of $2', askedBy: 'budget' },
    ];
    const lines = formatShown({ ...SHOWN, waiting }).split('\n');
    expect(lines.filter((line) => /^(?:approval|decide) /u.test(line))).toEqual([
      'approval       deploy (c1), required by gate: production is shared',
      'decide         perdure approve r1 c1   or: perdure deny r1 c1',
      'approval       increase of the limit of $2 (budget), required by budget',
      'decide         perdure extend r1 --turns N (other limits: --help)   or: perdure deny r1 budget',
    ]);
  });
});

describe('printResult', () => {
  it.each([
    [0, []],
    [1, ['continue it with: perdure continue r1']],
  ])('an error after %i turns: a run that never began has nothing to go on from', (turns, hints) => {
    const stderr: string[] = [];
    const error = { type: 'Input.Invalid', message: 'no', turn: 0 };
    printResult(
      { stdout: sinkOf([]), stderr: sinkOf(stderr) },
      { ...RESULT, reason: 'error', output: '', turns, error },
      { json: false, shown: false },
    );
    expect(stderr.join('').split('\n').slice(2, -1)).toEqual(hints);
  });

  it('the sub-agents are a tree: each below the one that started it, those at work without a cost', () => {
    const leaf = { runId: 'r1/lead-1/scout-1', agent: 'scout', reason: 'completed', usage: NO_USAGE, costUsd: 0.5, subagents: [] };
    const lead = { runId: 'r1/lead-1', agent: 'lead', subagents: [leaf] };
    const other = { runId: 'r1/lead-2', agent: 'lead', reason: 'cancelled', usage: NO_USAGE, subagents: [] };
    const lines = formatShown({ ...SHOWN, subagents: [lead, other] }).split('\n');
    expect(lines.filter((line) => line.startsWith('sub-agent'))).toEqual([
      'sub-agent      r1/lead-1: at work',
      'sub-agent        r1/lead-1/scout-1: completed, 0 in, 0 out, $0.5000',
      'sub-agent      r1/lead-2: cancelled, 0 in, 0 out',
    ]);
  });

  it('a run that was handed over shows its agents in order', () => {
    const lines = formatShown({ ...SHOWN, progress: { ...PROGRESS, agent: 'billing', agents: ['desk', 'billing'] } }).split('\n');
    expect(lines).toContain('agent          desk → billing');
  });

  it('a message that expired or was refused is told, beside those that were not read', () => {
    const stderr: string[] = [];
    const output = { stdout: sinkOf([]), stderr: sinkOf(stderr) };
    const result: RunResult = {
      ...RESULT,
      unconsumed: [{ id: 'late', text: 'and the docs' }],
      steers: [
        { id: 'read', state: 'delivered', turn: 1 },
        { id: 'old', state: 'expired' },
        { id: 'refused#1', state: 'refused', reason: 'EMPTY_MESSAGE' },
        { id: 'late', state: 'unconsumed' },
      ],
    };
    printResult(output, result, { json: false, shown: false });
    expect(stderr.join('').split('\n')).toEqual([
      'message late was not delivered: and the docs',
      'message old expired before it was delivered',
      'message refused#1 was refused: EMPTY_MESSAGE',
      'r1: completed after 1 turn, 0 in, 0 out',
      '',
    ]);
  });
});
