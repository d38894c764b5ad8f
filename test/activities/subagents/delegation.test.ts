import { describe, expect, it } from 'vitest';
import { createPrepareRun } from '../../../src/activities/prepare/prepare-run.js';
import { CAPABILITY_LEVEL, DELEGATION_LEVEL, HANDOFF_LEVEL } from '../../../src/contracts/capability-level.js';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import type { AgentDefinition } from '../../../src/define/define-agent.js';
import type { Config } from '../../../src/define/define-config.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';

const agent = (more: Partial<AgentDefinition> = {}): AgentDefinition => ({ description: 'd', prompt: 'p', ...more });

const config: Config = {
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: {
    root: agent({ subagents: { agents: ['lead'], depth: 2 } }),
    lead: agent({ subagents: ['process'], gate: 'read-only' }),
    safe: agent({ subagents: { agents: ['scout', 'safe'], allowSelf: true } }),
    desk: agent({ subagents: ['scout'], handoffs: ['scout'] }),
    clerk: agent({ handoffs: ['process'] }),
    scout: agent({ budget: { maxTokens: 5_000 } }),
    process: agent({ executor: { kind: 'subprocess', command: 'true' } }),
  },
};

const parent = { runId: 'r0', agent: 'lead', callId: 'c1', depthLeft: 0 };

const authenticate = () => Promise.resolve('UNSIGNED: no');

describe('what a run may delegate', () => {
  it('A-32: the tool names the agents of the list with their descriptions, and takes no other', async () => {
    const { setup, delegation } = await prepare({ agent: 'safe' });
    const tool = setup.tools.find(({ name }) => name === 'delegate');
    expect(tool).toMatchObject({ description: expect.stringContaining('- scout: d'), effect: 'read' });
    expect(JSON.stringify(tool?.schema)).toContain('["scout","safe"]');
    expect(delegation).toEqual({
      agents: [{ name: 'scout' }, { name: 'safe' }],
      depthLeft: 1,
      liveMax: 5,
      background: { onEnd: 'wait' },
    });
  });

  it('workflow code without sub-agents in the background is offered none, and no handoff', async () => {
    const { setup, delegation, handoffs } = await prepare({ agent: 'desk' }, HANDOFF_LEVEL - 1);
    expect(delegation?.background).toBeUndefined();
    expect(handoffs).toBeUndefined();
    expect(setup.tools.map(({ name }) => name)).toEqual(['delegate']);
    expect(JSON.stringify(setup.tools)).not.toContain('"wait"');
    expect((await prepare({ agent: 'desk' })).setup.tools.map(({ name }) => name)).toEqual(['delegate', 'handoff']);
  });

  it('older workflow code is offered no sub-agents, and its runs take no parent', async () => {
    expect((await prepare({ agent: 'safe' }, DELEGATION_LEVEL - 1)).delegation).toBeUndefined();
    const refused = { type: 'Input.Invalid', message: expect.stringContaining('parent') };
    await expect(prepare({ agent: 'scout', parent }, DELEGATION_LEVEL - 1)).rejects.toMatchObject(refused);
  });

  it('a sub-agent has the lower one of its own limit and its share, and the gate of its parent', async () => {
    const prepared = await prepare({ agent: 'scout', parent, maxTokens: 9_000 });
    expect(prepared).toMatchObject({ maxTokens: 5_000, policy: { gate: { profile: 'read-only' } } });
    expect((await prepare({ agent: 'scout', parent, maxTokens: 900 })).maxTokens).toBe(900);
  });

  it('A3: a start needs a signature if a child process is anywhere below it', async () => {
    for (const name of ['root', 'lead', 'clerk', 'process']) {
      await expect(prepare({ agent: name }, CAPABILITY_LEVEL, { authenticate })).rejects.toMatchObject({ message: 'UNSIGNED: no' });
    }
    expect((await prepare({ agent: 'safe' }, CAPABILITY_LEVEL, { authenticate })).delegation).toMatchObject({ signs: true });
  });
});

function prepare(
  input: Partial<RunInput>,
  level: number = CAPABILITY_LEVEL,
  more: Partial<Parameters<typeof createPrepareRun>[0]> = {},
): ReturnType<ReturnType<typeof createPrepareRun>> {
  const activity = createPrepareRun({
    config,
    configHash: 'h',
    keys: captureKeys({}),
    env: {},
    workspaceTools: [],
    searchAttributes: [],
    ...more,
  });
  return activity({ runId: 'r', input: { task: 'do it', ...input }, level });
}
