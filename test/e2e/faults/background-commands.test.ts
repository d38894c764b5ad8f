import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../support/use-workers.js';
import { liveProcesses } from '../../tools/support/live-processes.js';
import { usePerdureFolders, WAIT_MS_MAX } from '../support/perdure-folder.js';
import { messagesOf } from '../support/request-messages.js';
import { modelEnv, useModels } from '../support/use-models.js';

const CONFIG = `
import { defineAgent, defineConfig } from 'perdure';
export default defineConfig({
  agents: {
    server: defineAgent({ description: 'Serves.', prompt: 'Serve.', tools: ['start_command', 'command_output', 'stop_command'] }),
  },
});`;

describe('a background command whose worker is killed with SIGKILL', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('runs on, is read from by the next worker, and ends with its run', async () => {
    const marker = `e2e-${randomUUID()}`;
    const command = `(exec -a ${marker} sleep 600) & echo begun; until [ -e go ]; do sleep 0.1; done; echo went on; wait`;
    const steps = [
      { toolCalls: [{ name: 'start_command', args: { command, name: 'web' } }] },
      { toolCalls: [{ name: 'command_output', args: { id: 'web', after: 6, waitMs: 300_000 } }] },
      { text: 'told' },
    ];
    const wire = await model({ script: { steps } });
    const here = await folder(modelEnv(wire));
    await writeFile(join(here.dir, 'perdure.config.mjs'), CONFIG);
    const run = ['run', 'go', '--agent', 'server', '--model', 'openai/test', '--id', 'r1', '--workspace', here.workspace];
    const killed = here.start(run);
    await until(() => wire.requests.length === 2, 'the second request', WAIT_MS_MAX);
    await killed.kill('SIGKILL');
    expect(await liveProcesses(marker)).not.toEqual([]);

    const watching = here.json(['watch', 'r1']);
    await writeFile(join(here.workspace, 'go'), '');
    expect(await watching).toMatchObject({ reason: 'completed', turns: 3, toolCalls: 2, output: 'told' });
    expect(JSON.stringify(messagesOf(wire.requests[2]))).toContain('went on');
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the command');
  });

  it('ends without its run, which an operator terminated while no worker was there', async () => {
    const marker = `e2e-${randomUUID()}`;
    const command = `(exec -a ${marker} sleep 600) & echo begun; wait`;
    const silence = { text: 'silence', fault: { stall: true, afterEvent: 'text' } as const };
    const wire = await model({ script: { steps: [{ toolCalls: [{ name: 'start_command', args: { command } }] }, silence] } });
    const here = await folder(modelEnv(wire));
    await writeFile(join(here.dir, 'perdure.config.mjs'), CONFIG);
    const run = ['run', 'go', '--agent', 'server', '--model', 'openai/test', '--id', 'r1', '--workspace', here.workspace];
    const killed = here.start(run);
    await until(() => wire.requests.length === 2, 'the second request', WAIT_MS_MAX);
    const temporal = await here.temporal();
    await killed.kill('SIGKILL');
    await temporal.workflow.getHandle('r1').terminate('an operator');
    expect(await liveProcesses(marker)).not.toEqual([]);
    here.start(['dev']);
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the command', WAIT_MS_MAX);
  });
});
