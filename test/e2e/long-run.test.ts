import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, defaultPayloadConverter } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import { CarriedState } from '../../src/contracts/schemas/carried-state.js';
import { loopScript } from '../../src/testing/index.js';
import { usePerdureFolders } from './support/perdure-folder.js';
import { messagesOf } from './support/request-messages.js';
import { modelEnv, useModels } from './support/use-models.js';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

describe('a long run', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('of 200 turns writes as much history a turn as one of 40, and no more than 6 KB', async ({ annotate }) => {
    const here = await folder();
    const script = loopScript({ turns: 200, tool: 'look', args: { name: '{{turn}}' } });
    await writeFile(join(here.dir, 'loop.json'), JSON.stringify(script));
    const result = await here.json(['run', 'go', '--model', 'scripted/loop.json', '--id', 'r1', '--max-turns', '200']);
    expect(result).toMatchObject({ reason: 'completed', turns: 200, toolCalls: 199 });

    const [events = []] = await histories(await here.temporal(), 'r1');
    const at40 = endOfTurn(events, 40);
    const first40 = bytesOf(events.slice(0, at40)) / 40;
    const all = bytesOf(events) / 200;
    await annotate(`history bytes a turn: ${Math.round(first40)} in the first 40, ${Math.round(all)} in all 200; ${events.length} events`);
    expect(all).toBeLessThanOrEqual(6_000);
    expect(all / first40).toBeLessThanOrEqual(1.05);
  });

  it('forced through fresh histories while messages wait loses none of them and warns once', async () => {
    const turns = 8;
    const call = { toolCalls: [{ name: 'put_idempotent', args: { name: '{{turn}}' } }] };
    const wire = await model({ script: { steps: Array.from({ length: turns }, () => call), final: { text: 'this far' } } });
    const here = await folder(modelEnv(wire));
    await here.hold('1');
    const dev = here.start(['dev']);
    await dev.prints('worker running');
    const client = await here.client();
    const { run } = await client.start({
      task: 'go',
      id: 'r1',
      model: 'openai/test',
      maxTurns: turns,
      bounds: { continueAsNewEvents: 20 },
    });
    for (let turn = 1; turn <= turns; turn += 1) {
      await here.started('put_idempotent', turn);
      await run.steer({ id: `s${turn}`, text: `message ${turn}.` });
      // lets this call end and holds the next one
      await here.hold(String(turn + 1));
    }
    expect(await run.result()).toMatchObject({ reason: 'max_turns', turns, toolCalls: turns, output: 'this far', unconsumed: [] });

    const executions = await histories(await here.temporal(), 'r1');
    expect(executions.length).toBeGreaterThan(1);
    const waiting = executions.flatMap((events) => carriedBy(events)?.inbox ?? []);
    expect(waiting.length).toBeGreaterThan(0);
    const texts = JSON.stringify(messagesOf(wire.requests.at(-1)));
    const places = Array.from({ length: turns }, (_, n) => texts.split(`message ${n + 1}.`));
    expect(places.map((parts) => parts.length)).toEqual(places.map(() => 2));
    expect(places.map(([before]) => before?.length ?? 0)).toEqual(places.map(([before]) => before?.length ?? 0).toSorted((a, b) => a - b));
    expect(wire.requests).toHaveLength(turns + 1);
    expect((await here.startsOf('put_idempotent')).length).toBe(turns);
    const warned = wire.requests.filter((request) => JSON.stringify(messagesOf(request)).includes('turns remain'));
    expect(warned).toHaveLength(1);
    expect(await dev.kill('SIGTERM')).toMatchObject({ code: 0 });
  });
});

/** The histories of all executions of a run, the first one first. */
async function histories(client: Client, runId: string): Promise<HistoryEvent[][]> {
  const all: HistoryEvent[][] = [];
  const { raw } = await client.workflow.getHandle(runId).describe();
  let executionId = raw.workflowExtendedInfo ? (raw.workflowExecutionInfo?.firstRunId ?? undefined) : undefined;
  while (executionId) {
    const { events } = await client.workflow.getHandle(runId, executionId).fetchHistory();
    all.push(events ?? []);
    executionId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return all;
}

/** The state that an execution gave to the next one. */
function carriedBy(events: readonly HistoryEvent[]): CarriedState | undefined {
  const payload = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.input?.payloads?.[1];
  return payload ? CarriedState.parse(defaultPayloadConverter.fromPayload(payload)) : undefined;
}

/** Index after the last event of a turn, which ends with its tool's result. */
function endOfTurn(events: readonly HistoryEvent[], turn: number): number {
  const ends = events.flatMap(({ activityTaskCompletedEventAttributes }, index) =>
    activityTaskCompletedEventAttributes ? [index + 1] : [],
  );
  // one for the preparation, then two a turn
  return ends[2 * turn] ?? Number.NaN;
}

function bytesOf(events: readonly HistoryEvent[]): number {
  return events.reduce((bytes, event) => bytes + temporal.api.history.v1.HistoryEvent.encode(event).finish().length, 0);
}
