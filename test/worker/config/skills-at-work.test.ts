import { randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { expect, inject, it, onTestFinished } from 'vitest';
import { FileArtifactStore } from '../../../src/artifacts/file-artifact-store.js';
import type { RunSetup } from '../../../src/contracts/schemas/prepared-run.js';
import type { RunInput, RunResult } from '../../../src/contracts/schemas/run.js';
import { type LoadedConfig, loadConfig } from '../../../src/worker/config/load-config.js';
import { previewPrompt } from '../../../src/worker/config/preview-prompt.js';
import { createAgentActivities } from '../../../src/worker/create-worker.js';
import { resultTexts } from '../../activities/support/result-texts.js';
import { createTestWorker } from '../../support/test-worker.js';
import { testRun } from '../../support/use-workers.js';
import { useOwnedConnections } from '../support/owned-connections.js';

const owned = useOwnedConnections();

const PUBLISHED = fileURLToPath(new URL('../../tools/fixtures/published-skills/skills', import.meta.url));

const SCRIPT = {
  steps: [
    {
      toolCalls: [
        { name: 'read_skill', args: { name: 'agent-config' } },
        { name: 'read_skill', args: { name: 'greet' } },
      ],
    },
    { toolCalls: [{ name: 'run_command', args: { command: 'sh .agents/skills/greet/scripts/greet.sh' } }] },
    { text: 'done' },
  ],
};

it('a run reads a published skill, and one of its workspace whose script runs in the sandbox; the preview had the same prompt', {
  timeout: 60_000,
}, async () => {
  const { folder, workspace, config } = await makeFolders();
  const input: RunInput = { task: 'greet', agent: 'writer', context: { workspace } };
  const preview = await previewPrompt(config, input, new FileArtifactStore(join(folder, 'outputs')));
  const { run, setup } = await runOn(config, input);
  expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done', toolCalls: 3 });
  expect(setup.prompt).toBe(preview.prompt);
  expect(setup.tools.map(({ name }) => name)).toEqual(preview.tools.map(({ name }) => name));
  const [published = '', own = '', printed = ''] = resultTexts(await run.messages());
  expect(published).toContain('# Agent Configuration');
  expect(own).toContain('[folder of the skill, for run_command: .agents/skills/greet]');
  expect(printed).toContain('hello from the skill');
});

async function makeFolders(): Promise<{ folder: string; workspace: string; config: LoadedConfig }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'perdure-skilled-run-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const workspace = join(folder, 'work');
  const skill = join(workspace, '.agents/skills/greet');
  await cp(PUBLISHED, join(folder, 'skills'), { recursive: true });
  await put(join(skill, 'SKILL.md'), '---\nname: greet\ndescription: Greets.\n---\nRun scripts/greet.sh.\n');
  await put(join(skill, 'scripts/greet.sh'), 'echo hello from the skill\n');
  await put(
    join(folder, 'agents/writer.md'),
    '---\ndescription: Writes.\npromptMode: full\nskills: [agent-config, greet]\nworkspaceSkills: true\n---\nWrite.\n',
  );
  await put(join(folder, 'script.json'), JSON.stringify(SCRIPT));
  await put(join(folder, 'perdure.config.json'), JSON.stringify({ model: `scripted/${join(folder, 'script.json')}` }));
  return { folder, workspace, config: await loadConfig({ cwd: folder, env: { XDG_CACHE_HOME: folder } }) };
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Starts a run on a worker that ends with the test, and waits for its setup. */
async function runOn(config: LoadedConfig, input: RunInput) {
  const taskQueue = `skills-${randomUUID()}`;
  const worker = await createTestWorker({
    connection: owned.nativeConnection,
    taskQueue,
    workflowBundle: { codePath: inject('workflowBundlePath') },
    activities: createAgentActivities({ config, stateDir: join(config.folder ?? '', '.perdure'), searchAttributes: [] }),
  });
  owned.run(worker);
  const handle = await new Client({ connection: owned.connection }).workflow.start<() => Promise<RunResult>>('agentRun', {
    taskQueue,
    workflowId: randomUUID(),
    args: [input] as never,
  });
  await handle.result();
  return { run: testRun(handle), setup: await handle.query<RunSetup>('setup') };
}
