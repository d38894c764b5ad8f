import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { NativeConnection } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import type { RunEvent } from '../../src/contracts/event.js';
import type { RunInput, RunResult } from '../../src/contracts/schemas/run.js';
import { loadConfig } from '../../src/worker/config/load-config.js';
import { type AgentActivitiesOptions, createAgentActivities } from '../../src/worker/create-worker.js';
import { resultTexts } from '../activities/support/result-texts.js';
import { useTempFolder } from '../support/temp-folder.js';
import { createTestWorker } from '../support/test-worker.js';
import { testRun } from '../support/use-workers.js';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

const SCRIPT = `steps:
  - expect: { tools: [update_plan] }
    toolCalls: [{ name: update_plan, args: { steps: [{ step: count, status: pending }] } }]
  - text: There are four, as far as I can see.
  - toolCalls: [{ name: update_plan, args: { steps: [{ step: count, status: done }] } }]
  - text: '{"total": "four"}'
  - text: '{"total": 4}'
  - text: '{"total": 3}'
`;

describe('createAgentActivities', () => {
  const folder = useTempFolder('perdure-activities-');

  it('an agent of the config: its plan, the schema of the run and its own gate each have a say before an answer ends it', async () => {
    const script = join(folder.path, 'script.yaml');
    await writeFile(script, SCRIPT);
    await writeFile(
      join(folder.path, 'perdure.config.mjs'),
      `export default { model: ${JSON.stringify(`scripted/${script}`)}, agents: { counter: {
        description: 'Counts.', prompt: 'You count.', preset: 'zkit', completion: { checks: ['plan-finished'] },
        completionGate: ({ structured }) => structured.total === 3 ? { accept: true } : { accept: false, correction: 'Count again.' } } } };`,
    );
    const outputSchema = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };
    const { result, events } = await run({ task: 'count', agent: 'counter', outputSchema });
    expect(result).toMatchObject({ reason: 'completed', turns: 6, structured: { total: 3 } });
    const corrections = events.filter((event) => event.type === 'answer.corrected').map(({ why }) => why);
    expect(corrections).toEqual(['plan-finished', 'output schema', 'completion gate']);
    expect(events.find((event) => event.type === 'run.started')).toMatchObject({ agent: 'counter', maxTurns: 12 });
  });

  it.each([
    { from: 'nothing: the default', config: {}, option: {}, expected: undefined },
    { from: 'the config', config: { limits: { heartbeatTimeoutMs: 20_000 } }, option: {}, expected: 20 },
    { from: 'the worker', config: { limits: { heartbeatTimeoutMs: 20_000 } }, option: { heartbeatTimeoutMs: 25_000 }, expected: 25 },
    {
      from: 'the agent',
      config: {
        limits: { heartbeatTimeoutMs: 20_000 },
        agents: { default: { description: 'Waits.', prompt: 'Wait.', heartbeatTimeoutMs: 40_000 } },
      },
      option: { heartbeatTimeoutMs: 25_000 },
      expected: 40,
    },
  ])('the heartbeat timeout of a run comes from $from', async ({ config, option, expected }) => {
    const script = join(folder.path, 'script.yaml');
    await writeFile(script, 'steps: [{ text: hello }]\n');
    const model = `scripted/${script}`;
    await writeFile(join(folder.path, 'perdure.config.json'), JSON.stringify({ model, ...config }));
    const { history, result } = await run({ task: 'greet' }, option);
    expect(result).toMatchObject({ reason: 'completed' });
    const scheduled = history.flatMap(({ activityTaskScheduledEventAttributes: call }) => (call ? [call] : []));
    const seconds = scheduled.map(({ activityType, heartbeatTimeout }) => [activityType?.name, Number(heartbeatTimeout?.seconds)]);
    // a run learns its timeout from its preparation
    expect(seconds).toEqual([
      ['prepareRun', 30],
      ['callModel', expected ?? 30],
    ]);
  });

  it("B41: no tool of a workspace reads the worker's own state folder, wherever it is", async () => {
    const stateDir = join(folder.path, 'state-of-worker');
    await mkdir(stateDir);
    await writeFile(join(stateDir, 'secret.txt'), 'the-state');
    const script = join(folder.path, 'script.yaml');
    await writeFile(
      script,
      `steps:
  - toolCalls:
      - { name: read_file, args: { path: state-of-worker/secret.txt } }
      - { name: search_files, args: { pattern: the-st } }
      - { name: write_file, args: { path: state-of-worker/secret.txt, content: x } }
      - { name: run_command, args: { command: cat state-of-worker/secret.txt } }
  - text: done
`,
    );
    await writeFile(join(folder.path, 'perdure.config.json'), JSON.stringify({ model: `scripted/${script}` }));
    const { texts } = await run({ task: 'look', context: { workspace: folder.path } }, { stateDir });
    expect(texts).toHaveLength(4);
    expect(texts[0]).toMatch(/^DENIED/u);
    expect(texts[2]).toMatch(/^DENIED/u);
    expect(texts.join('\n')).not.toContain('the-state');
    expect(await readFile(join(stateDir, 'secret.txt'), 'utf8')).toBe('the-state');
  });

  async function run(
    input: RunInput,
    options: Partial<Pick<AgentActivitiesOptions, 'heartbeatTimeoutMs' | 'stateDir'>> = {},
  ): Promise<{
    readonly result: RunResult;
    readonly events: readonly RunEvent[];
    readonly history: readonly HistoryEvent[];
    readonly texts: readonly string[];
  }> {
    const address = inject('temporalAddress');
    const taskQueue = `activities-${randomUUID()}`;
    const [connection, nativeConnection] = await Promise.all([Connection.connect({ address }), NativeConnection.connect({ address })]);
    const config = await loadConfig({ cwd: folder.path, env: { XDG_CACHE_HOME: folder.path } });
    const worker = await createTestWorker({
      connection: nativeConnection,
      taskQueue,
      workflowBundle: { codePath: inject('workflowBundlePath') },
      activities: createAgentActivities({ config, stateDir: folder.path, searchAttributes: [], ...options }),
    });
    const running = worker.run();
    try {
      const handle = await new Client({ connection }).workflow.start('agentRun', { taskQueue, workflowId: randomUUID(), args: [input] });
      const result = (await handle.result()) as RunResult;
      const { events } = await handle.query<{ events: RunEvent[] }, [object]>('events', { after: 0 });
      const history = await handle.fetchHistory();
      return { result, events, history: history.events ?? [], texts: resultTexts(await testRun(handle).messages()) };
    } finally {
      worker.shutdown();
      await running;
      await nativeConnection.close();
      await connection.close();
    }
  }
});
