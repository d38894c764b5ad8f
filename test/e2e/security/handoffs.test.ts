import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { PrepareRunInput } from '../../../src/contracts/activities.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import type { ScriptStepInput } from '../../../src/providers/scripted/script.js';
import { usePerdureFolders } from '../support/perdure-folder.js';
import { modelEnv, useModels } from '../support/use-models.js';

/** The clerk may write files. The keeper, and the porter that leads to it, is a child process. */
const CONFIG = `export default {
  model: 'openai/test',
  agents: {
    desk: { description: 'd', prompt: 'desk', handoffs: ['clerk'], tools: ['read_file'] },
    clerk: { description: 'd', prompt: 'clerk', tools: ['write_file'] },
    porter: { description: 'd', prompt: 'porter', handoffs: ['keeper'] },
    keeper: { description: 'd', prompt: 'keeper', executor: { kind: 'subprocess', command: 'touch', args: ['started'] } },
  },
};
`;

const WRITE = { toolCalls: [{ name: 'write_file', args: { path: 'note.txt', content: 'hello' } }] };

/** Hands over to the clerk, which writes a file and says what came of it. */
function desk(answered: number, lastToolResult: string): ScriptStepInput {
  if (answered === 0) return { toolCalls: [{ name: 'handoff', args: { agent: 'clerk' } }] };
  return answered === 1 ? WRITE : { text: lastToolResult };
}

describe('A3: a handoff at the embedded server', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  async function place(handler: (request: { answered: number; lastToolResult: string }) => ScriptStepInput) {
    const here = await folder(modelEnv(await model({ handler })));
    await writeFile(join(here.dir, 'perdure.config.mjs'), CONFIG);
    return here;
  }

  it('the other agent works in the workspace for which the owner signed, under a signature of its own that nobody can use again', async () => {
    const here = await place(({ answered, lastToolResult }) => desk(answered, lastToolResult));
    const dev = here.start(['dev']);
    await dev.prints('only you start runs with a workspace');
    const ended = (await here.json(['run', 'go', '--agent', 'desk', '--id', 'mine', '--workspace', here.workspace])) as RunResult;
    expect(ended).toMatchObject({ reason: 'completed', agents: ['desk', 'clerk'] });
    expect(await readFile(join(here.workspace, 'note.txt'), 'utf8')).toBe('hello');

    const temporal = await here.temporal();
    const [start, handoff] = await preparations(temporal, 'mine');
    expect(start?.input).toMatchObject({ agent: 'desk', auth: expect.stringMatching(/^v1\./u) });
    expect(handoff?.input).toMatchObject({ agent: 'clerk', context: { workspace: here.workspace }, auth: expect.stringMatching(/^v1\./u) });
    expect(handoff?.input.auth).not.toBe(start?.input.auth);
    for (const workflowId of ['mine', 'other']) {
      const options = { taskQueue: 'perdure', workflowId, args: [handoff?.input], workflowIdReusePolicy: 'ALLOW_DUPLICATE' } as const;
      await expect(temporal.workflow.execute('agentRun', options)).rejects.toMatchObject({
        cause: { message: expect.stringMatching(/^UNSIGNED: a start .* (?:was used before|of another key, run or input)/u) },
      });
    }
    await dev.kill('SIGTERM');
  });

  it('a start without a signature gets no workspace and no child process by a handoff, whatever the model writes into the call', async () => {
    const calls = [
      { agent: 'keeper' },
      { agent: 'clerk', workspace: '/tmp' },
      { agent: 'clerk', context: { workspace: '/tmp' } },
      { agent: ['clerk'] },
    ];
    const here = await place(({ answered, lastToolResult }) =>
      answered === 0 ? { toolCalls: calls.map((args) => ({ name: 'handoff', args })) } : desk(answered - 1, lastToolResult),
    );
    const dev = here.start(['dev']);
    await dev.prints('only you start runs with a workspace');
    const temporal = await here.temporal();
    const start = (workflowId: string, agent: string): Promise<RunResult> =>
      temporal.workflow.execute('agentRun', { taskQueue: 'perdure', workflowId, args: [{ task: 'go', agent }] });

    const result = await start('plain', 'desk');
    expect(result).toMatchObject({
      reason: 'completed',
      agents: ['desk', 'clerk'],
      output: expect.stringMatching(/^no tool named "write_file"/u),
    });
    const [, handoff, ...more] = await preparations(temporal, 'plain');
    expect(more).toEqual([]);
    expect(handoff?.input).not.toHaveProperty('context');
    await expect(start('led', 'porter')).rejects.toMatchObject({ cause: { message: expect.stringMatching(/^UNSIGNED: a start with/u) } });
    expect(existsSync(join(here.dir, 'started'))).toBe(false);
    await dev.kill('SIGTERM');
  });
});

/** The inputs of activity `prepareRun` in the history of a run, as any user of the machine reads them. */
async function preparations({ workflow }: Client, runId: string): Promise<PrepareRunInput[]> {
  const { events } = await workflow.getHandle(runId).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: activity }) =>
    activity?.activityType?.name === 'prepareRun' ? [JSON.parse(Buffer.from(activity.input?.payloads?.[0]?.data ?? []).toString())] : [],
  );
}
