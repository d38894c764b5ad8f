import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createPrepareRun } from '../../../src/activities/prepare/prepare-run.js';
import type { Config } from '../../../src/define/define-config.js';
import { defineHook } from '../../../src/define/define-hook.js';
import { defineTool, type ToolOptions } from '../../../src/define/define-tool.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createListedTools, WORKSPACE_TOOLS } from '../../../src/tools/registry.js';
import { backgroundCommands } from '../../../src/worker/hosting/background-commands.js';
import { useTempFolder } from '../../support/temp-folder.js';

const SAFE = ['read_file', 'list_files', 'search_files'];
const allow = () => ({ action: 'allow' }) as const;

describe('the tools that a run is offered', () => {
  const workspace = useTempFolder('perdure-offered-');

  it('what the gate would block anyway is not offered', async () => {
    const all = ['fetch', 'sum', ...WORKSPACE_TOOLS.map(({ name }) => name)];
    expect(await offered(undefined)).toEqual(all);
    expect(await offered('all')).toEqual(all);
    expect(await offered('ask-before-writing')).toEqual(all);
    expect(await offered('read-only')).toEqual(['fetch', 'sum', ...SAFE]);
    expect(await offered('no-network')).toEqual(['sum', 'read_file', 'write_file', 'edit_file', 'list_files', 'search_files']);
    const rules = [{ tool: 'run_command', command: 'git', decision: 'allow' as const }];
    expect(await offered({ profile: 'read-only', rules })).toEqual(['fetch', 'sum', ...SAFE, 'run_command']);
    expect(await offered({ rules: [{ tool: '*_file', decision: 'block' }] })).toEqual(all.filter((name) => !name.endsWith('_file')));
  });

  it('a gate that is a function is asked before each call, so everything is offered', async () => {
    const { setup, policy } = await prepare({ agents: { a: { description: 'd', prompt: 'p', gate: allow } } });
    expect(setup.tools).toHaveLength(8);
    expect(setup.tools.every(({ checked }) => checked)).toBe(true);
    expect(policy?.gate).toEqual({ profile: 'all', rules: [] });
  });

  it('some tools only to an agent that lists them, those of a workspace only with one', async () => {
    const named = ['fetch_url', 'apply_patch', 'read_file'];
    const agents = { a: { description: 'd', prompt: 'p', tools: named } };
    expect((await prepare({ agents })).setup.tools.map(({ name }) => name)).toEqual(['read_file', 'apply_patch', 'fetch_url']);
    expect((await prepare({ agents }, {})).setup.tools.map(({ name }) => name)).toEqual(['fetch_url']);
    const blocked = { a: { ...agents.a, blockedTools: ['fetch_url'], gate: 'no-network' as const } };
    expect((await prepare({ agents: blocked })).setup.tools.map(({ name }) => name)).toEqual(['read_file', 'apply_patch']);
  });

  it('only calls that a hook or an approval has a say in are checked by an activity', async () => {
    const hooks = [
      defineHook({ name: 'writes', on: 'before-tool', tools: ['write_*'], paths: ['src/**'], run: allow }),
      defineHook({ name: 'reads', on: 'after-tool', tools: ['read_file'], run: allow }),
    ];
    const { setup } = await prepare({ hooks, tools: [toolOf('asks', { approval: 'always' }), toolOf('free', {})] });
    const checked = setup.tools.filter((tool) => tool.checked).map(({ name }) => name);
    expect(checked).toEqual(['asks', 'write_file']);
    expect(setup.tools.find(({ name }) => name === 'asks')).toMatchObject({ approval: true });
  });

  it('a run knows which hooks it must ask for by itself', async () => {
    const hooks = [defineHook({ name: 'h', on: 'after-run', run: allow }), defineHook({ name: 'g', on: 'before-tool', run: allow })];
    expect((await prepare({ hooks })).policy?.hooks).toEqual({ beforeRun: false, afterRun: true, error: false, unknownTools: true });
    expect((await prepare({})).policy?.hooks).toEqual({ beforeRun: false, afterRun: false, error: false, unknownTools: false });
  });

  async function offered(gate: NonNullable<Config['agents']>[string]['gate']): Promise<string[]> {
    const agent = { description: 'd', prompt: 'p', ...(gate === undefined ? {} : { gate }) };
    return (await prepare({ agents: { a: agent } })).setup.tools.map(({ name }) => name);
  }

  function prepare(config: Config, context: { readonly workspace?: string } = { workspace: workspace.path }) {
    const tools = config.tools ?? [toolOf('fetch', { effect: 'read' }), toolOf('sum', { effect: 'read', network: false })];
    const prepareRun = createPrepareRun({
      config: { ...config, tools },
      configHash: 'test',
      keys: captureKeys({}),
      env: {},
      workspaceTools: WORKSPACE_TOOLS,
      listedTools: createListedTools({ sandbox: {}, protected: [], background: backgroundCommands('/nowhere'), fetch: {} }),
      searchAttributes: [],
    });
    const agent = config.agents ? { agent: 'a' } : {};
    return prepareRun({ runId: 'r', input: { task: 'x', model: 'scripted/x', context, ...agent } });
  }
});

function toolOf(name: string, options: Partial<ToolOptions<object>>) {
  return defineTool({ name, description: 'A tool.', parameters: z.strictObject({}), execute: () => 'done', ...options });
}
