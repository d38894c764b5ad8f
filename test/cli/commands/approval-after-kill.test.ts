import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useCliFolders } from '../support/cli.js';

/** A tool that a person decides about, and that notes each of its calls in a file. */
const CONFIG = `
import { appendFileSync } from 'node:fs';
import { defineConfig, defineTool } from '${new URL('../../../src/define/index.ts', import.meta.url).href}';
import { z } from '${import.meta.resolve('zod')}';
export default defineConfig({
  tools: [defineTool({
    name: 'deploy',
    description: 'Deploys.',
    parameters: z.strictObject({ to: z.string() }),
    approval: 'always',
    execute: ({ to }) => { appendFileSync('deployed', to); return 'deployed to ' + to; },
  })],
});`;

const SCRIPT = { steps: [{ toolCalls: [{ name: 'deploy', args: { to: 'production' } }] }, { text: 'all done' }] };

describe('a run whose process is killed while a call waits for a person', { timeout: 180_000 }, () => {
  const makeFolder = useCliFolders();

  it('still waits for it: approve starts a worker in the background, the call runs once, and the run ends', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder.path, 'perdure.config.ts'), CONFIG);
    await writeFile(join(folder.path, 'script.json'), JSON.stringify(SCRIPT));
    const running = folder.start(['run', 'deploy it', '--model', 'scripted/script.json', '--id', 'r1']);
    await running.saw(/decide with: perdure approve r1 \S+/u);
    const [waiting] = JSON.parse((await folder.run(['approvals', '--json'])).stdout) as [{ callId: string }];
    expect(waiting).toMatchObject({ runId: 'r1', tool: 'deploy', args: { to: 'production' } });
    running.child.kill('SIGKILL');
    await running.ended;

    const approved = await folder.run(['approve', 'r1', waiting.callId, '--by', 'ada']);
    expect(approved).toMatchObject({ code: 0, stderr: expect.stringContaining(`r1: deploy ${waiting.callId} approved by ada`) });
    expect(JSON.parse((await folder.run(['watch', 'r1', '--json'])).stdout)).toMatchObject({
      reason: 'completed',
      output: 'all done',
      turns: 2,
      toolCalls: 1,
    });
    expect(await readFile(join(folder.path, 'deployed'), 'utf8')).toBe('production');
  });
});
