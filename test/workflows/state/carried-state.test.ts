import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CarriedState } from '../../../src/contracts/schemas/carried-state.js';
import { Message } from '../../../src/contracts/schemas/message.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { say } from '../../support/agent-worker.js';
import { readSavedStates } from '../../support/histories/saved-states.js';
import { look } from '../../support/tools/sample-tools.js';
import { testRun, until, useWorkers } from '../../support/use-workers.js';
import { startContinued } from './support/start-continued.js';

const saved = await readSavedStates();

describe('states that earlier builds carried into a fresh history', () => {
  it('there are some of each release, and some with a record of work', () => {
    expect(saved.filter(({ file }) => file.startsWith('0.1-')).length).toBeGreaterThanOrEqual(2);
    expect(saved.filter(({ file }) => file.startsWith('0.2-')).length).toBeGreaterThanOrEqual(4);
    expect(saved.filter(({ file }) => file.startsWith('0.3-')).length).toBeGreaterThanOrEqual(1);
    expect(saved.some(({ state }) => CarriedState.parse(state).work.calls > 0)).toBe(true);
  });

  it.each(saved)('$file: the present build reads it, and nothing of it is lost', ({ state }) => {
    expect(CarriedState.parse(state)).toMatchObject(state);
  });

  it('a state of 0.1 knows of no work, and no guard has a say in it', () => {
    for (const { state } of saved.filter(({ file }) => file.startsWith('0.1-'))) {
      const { work, prepared } = CarriedState.parse(state);
      expect(work).toEqual(CarriedState.shape.work.parse(undefined));
      expect(prepared.policy).toBeUndefined();
    }
  });
});

describe('a run that goes on from a state of 0.1', () => {
  const { worker } = useWorkers();

  it.each(saved.filter(({ file }) => file.startsWith('0.1-')))('$file: waits as it did, and then ends', async ({ input, state }) => {
    const on = await worker({ model: () => say('It is done.'), tools: [look] });
    const run = testRun(await startContinued(on, [input, state]));
    const carried = CarriedState.parse(state);
    await until(async () => (await run.progress()).status === 'paused', 'the pause that was carried');
    expect(on.requests).toHaveLength(0);
    await run.handle.signal('resume');
    const result: RunResult = await run.result();
    expect(result).toMatchObject({ reason: 'completed', output: 'It is done.', turns: carried.counters.turn + 1 });
    const asked = z.array(Message).parse(on.requests[0]?.messages);
    expect(asked.slice(0, carried.transcript.length)).toEqual(carried.transcript.map(({ message }) => message));
    const open = carried.turnInProgress?.calls.map(({ callId }) => callId) ?? [];
    expect(asked.slice(carried.transcript.length).map(({ id }) => id)).toEqual(open);
    const events = await run.events();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  it('a state of a later version is not begun with: the run waits for a worker that can read it', async () => {
    const on = await worker({ model: () => say('It is done.'), tools: [look] });
    const handle = await startContinued(on, [saved[0]?.input, { ...saved[0]?.state, v: 2 }]);
    const failed = async () => (await handle.fetchHistory()).events?.find((event) => event.workflowTaskFailedEventAttributes);
    await until(async () => (await failed()) !== undefined, 'its first task to fail');
    expect((await failed())?.workflowTaskFailedEventAttributes?.failure?.message).toMatch(
      /^the carried state .* version is 2, not 1; start/u,
    );
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(on.requests).toHaveLength(0);
    await handle.terminate();
  });
});
