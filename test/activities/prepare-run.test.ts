import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { captureKeys } from '../../src/activities/key-ring.js';
import { createPrepareRun } from '../../src/activities/prepare-run.js';
import { WORKSPACE_TOOLS } from '../../src/activities/tools/registry.js';
import { PAYLOAD_LIMITS } from '../../src/contracts/limits.js';
import type { RunInput } from '../../src/contracts/run.js';
import type { Config } from '../../src/define/define-config.js';
import { defineTool } from '../../src/define/define-tool.js';

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  parameters: z.strictObject({ a: z.number(), b: z.number() }),
  effect: 'read',
  execute: ({ a, b }) => a + b,
});

describe('prepareRun', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perdure-prepare-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('A-01: the model of the request goes before the agent, the environment and the config', async () => {
    const config: Config = { model: 'openai/from-config', agents: { a: { description: 'd', prompt: 'p', model: 'openai/from-agent' } } };
    const env = { PERDURE_MODEL: 'openai/from-env' };
    expect((await prepare({ agent: 'a', model: 'openai/from-request' }, { config, env })).model).toBe('openai/from-request');
    expect((await prepare({ agent: 'a' }, { config, env })).model).toBe('openai/from-agent');
    expect((await prepare({}, { config, env })).model).toBe('openai/from-env');
    expect((await prepare({}, { config })).model).toBe('openai/from-config');
  });

  it('D-17: without any choice the model comes from the keys that are there; without keys the error names them', async () => {
    expect((await prepare({}, { env: { ANTHROPIC_API_KEY: 'k-123456' } })).model).toMatch(/^anthropic\//u);
    expect((await prepare({}, { env: { OPENAI_API_KEY: 'k-123456' } })).model).toMatch(/^openai\//u);
    await expect(prepare({})).rejects.toMatchObject({
      type: 'Input.NoModel',
      nonRetryable: true,
      message: expect.stringContaining('OPENAI_API_KEY'),
    });
  });

  it('B10, B9: a bad input from any language is refused with all its problems at once', async () => {
    await expect(prepare({ maxTurns: 0, maxturn: 3 } as Partial<RunInput>)).rejects.toMatchObject({
      type: 'Input.Invalid',
      message: expect.stringMatching(/maxTurns.*maxturn|maxturn.*maxTurns/su),
    });
    await expect(prepare({ task: '  ' })).rejects.toMatchObject({
      type: 'Input.Invalid',
      message: expect.stringContaining('EMPTY_MESSAGE'),
    });
  });

  it('an unknown agent is refused with the names there are', async () => {
    await expect(prepare({ agent: 'ghost', model: 'scripted/x' })).rejects.toMatchObject({
      type: 'Input.UnknownAgent',
      message: expect.stringContaining('default'),
    });
  });

  it('a run without workspace has only the tools of the config; with one it has six more, in a fixed order', async () => {
    const config: Config = { tools: [add], model: 'scripted/x' };
    expect((await prepare({}, { config })).setup.tools.map((tool) => tool.name)).toEqual(['add']);
    const { setup } = await prepare({ context: { workspace: folder } }, { config });
    expect(setup.tools.map((tool) => tool.name)).toEqual(['add', ...WORKSPACE_TOOLS.map((tool) => tool.name)]);
    expect(setup.tools.find((tool) => tool.name === 'edit_file')).toMatchObject({ effect: 'once', hasReconcile: true, workspace: true });
  });

  it('A-10: an agent may take tools away by list and by block', async () => {
    const config: Config = {
      model: 'scripted/x',
      agents: {
        reader: { description: 'd', prompt: 'p', tools: ['read_file', 'run_command'], blockedTools: ['run_command'] },
      },
    };
    const { setup } = await prepare({ agent: 'reader', context: { workspace: folder } }, { config });
    expect(setup.tools.map((tool) => tool.name)).toEqual(['read_file']);
  });

  it('A-05, A-06: the prompt is base, project, mode, workspace, then the instruction files that are there, each under its name', async () => {
    await writeFile(join(folder, 'AGENTS.md'), 'Use tabs.');
    await writeFile(join(folder, 'CLAUDE.md'), '   ');
    const { setup } = await prepare({ model: 'scripted/x', context: { workspace: folder, projectPath: 'shop', mode: 'code' } });
    const order = ['careful agent', 'Project: shop', 'You work on code', 'workspace folder', '# Instructions from AGENTS.md\n\nUse tabs.'];
    const places = order.map((text) => setup.prompt.indexOf(text));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(setup.prompt).not.toContain('CLAUDE.md');
  });

  it('A-05: no project and no context leave the base prompt as it is', async () => {
    const config: Config = { model: 'scripted/x', agents: { a: { description: 'd', prompt: 'Exactly this.' } } };
    expect((await prepare({ agent: 'a' }, { config })).setup.prompt).toBe('Exactly this.');
  });

  it('a missing or relative workspace is refused', async () => {
    await expect(prepare({ model: 'scripted/x', context: { workspace: join(folder, 'none') } })).rejects.toMatchObject({
      type: 'Input.Workspace',
    });
    await expect(prepare({ model: 'scripted/x', context: { workspace: 'here' } })).rejects.toMatchObject({ type: 'Input.Workspace' });
  });

  it('a money cap with a model of unknown price is refused; a price of the config makes it work', async () => {
    await expect(prepare({ model: 'openai/unheard-of', maxCostUsd: 1 })).rejects.toMatchObject({
      message: expect.stringContaining('UNKNOWN_PRICE'),
    });
    const prepared = await prepare(
      { model: 'openai/unheard-of', maxCostUsd: 1 },
      { config: { prices: { 'openai/unheard-of': { input: 1, output: 2 } } } },
    );
    expect(prepared.price).toEqual({ input: 1, output: 2 });
  });

  it('a setup larger than a query may answer is refused before the run starts', async () => {
    const config: Config = {
      model: 'scripted/x',
      agents: { a: { description: 'd', prompt: 'x'.repeat(PAYLOAD_LIMITS.outsideBytesMax + 1) } },
    };
    await expect(prepare({ agent: 'a' }, { config })).rejects.toMatchObject({ message: expect.stringContaining('SETUP_TOO_LARGE') });
  });

  it('what is not in this version is refused, never ignored', async () => {
    await expect(prepare({ model: 'scripted/x', mode: 'chat' })).rejects.toMatchObject({
      message: expect.stringContaining('not supported'),
    });
  });
});

function prepare(input: Partial<RunInput>, { config = {}, env = {} }: { config?: Config; env?: NodeJS.ProcessEnv } = {}) {
  const activity = createPrepareRun({
    config,
    configHash: 'h',
    keys: captureKeys(env),
    env,
    workspaceTools: WORKSPACE_TOOLS,
    searchAttributes: [],
  });
  return activity({ runId: 'r', input: { task: 'do it', ...input } });
}
