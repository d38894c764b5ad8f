import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CarriedState } from '../../src/contracts/carried-state.js';
import { Message } from '../../src/contracts/message.js';
import { RunInput, type RunResult } from '../../src/contracts/run.js';
import { defineTool } from '../../src/define/define-tool.js';
import { say } from '../support/agent-worker.js';
import { testRun, until, useWorkers } from '../support/use-workers.js';

/** A state that a saved history began with, as the build that wrote it left it. */
interface SavedState {
  readonly file: string;
  readonly input: RunInput;
  readonly state: Record<string, unknown>;
}

const FOLDER = fileURLToPath(new URL('../histories/', import.meta.url));
const saved = await readSavedStates();

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  execute: ({ n }) => `seen ${n}`,
});

describe('states that earlier builds carried into a fresh history', () => {
  it('there are some of each release, and some with a record of work', () => {
    expect(saved.filter(({ file }) => file.startsWith('0.1-')).length).toBeGreaterThanOrEqual(2);
    expect(saved.filter(({ file }) => file.startsWith('0.2-')).length).toBeGreaterThanOrEqual(4);
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
    const args = [input, state];
    const started = await on.client.workflow.start('agentRun', { taskQueue: on.taskQueue, workflowId: `run-${randomUUID()}`, args });
    const run = testRun(started);
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
});

async function readSavedStates(): Promise<SavedState[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.json')).toSorted();
  const states = await Promise.all(files.map(readSavedState));
  return states.filter((state) => state !== undefined);
}

async function readSavedState(file: string): Promise<SavedState | undefined> {
  const history = historyFromJSON(JSON.parse(await readFile(`${FOLDER}${file}`, 'utf8')));
  const payloads = history.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const [input, state] = payloads.map((payload) => defaultPayloadConverter.fromPayload<unknown>(payload));
  return state === undefined ? undefined : { file, input: RunInput.parse(input), state: z.record(z.string(), z.unknown()).parse(state) };
}
