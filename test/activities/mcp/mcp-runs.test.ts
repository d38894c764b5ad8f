import { describe, expect, inject, it } from 'vitest';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import type { Config } from '../../../src/define/define-config.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { call, say } from '../../support/agent-worker.js';
import { replayHistory } from '../../support/test-worker.js';
import { until, useWorkers } from '../../support/use-workers.js';
import { useMcp } from './support/mcp-kit.js';

const AGENT = { description: 'Uses servers.', prompt: 'Use the servers.' };
const config = (more: Partial<Config> = {}): Config => ({
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: { default: AGENT },
  mcpServers: { odd: { command: 'x' } },
  ...more,
});

const hangOnce = ({ messages }: ModelRequest): ModelAnswer => (messages.length < 3 ? call(['odd_hang', {}]) : say('done'));

describe('a run with MCP servers', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();
  const { odd } = useMcp();

  it('calls their tools; an unknown outcome is told, and the run goes on with a new process', async () => {
    const { tools, log } = await odd();
    const on = await worker({
      config: config(),
      mcpTools: tools,
      model: ({ messages }) =>
        [call(['odd_add', { n: 4 }], ['odd_progress', {}]), call(['odd_die', {}]), call(['odd_add', { n: 5 }]), say('done')][
          messages.filter(({ role }) => role === 'assistant').length
        ] ?? say('?'),
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done', toolCalls: 4 });
    const results = JSON.stringify((await run.messages()).filter(({ role }) => role === 'tool'));
    expect(results).toContain('sum 5');
    expect(results).toContain('[outcome unknown] the MCP server odd was lost during the call');
    expect(results).toContain('sum 6');
    expect((await log()).filter((line) => line === 'call die')).toHaveLength(1);
    await replayHistory(inject('workflowBundlePath'), await run.handle.fetchHistory(), run.handle.workflowId);
  });

  it('a call that must not be repeated, was sent and got no answer in its time: its outcome is unknown', async () => {
    const { tools, log } = await odd({ tools: { hang: { timeoutMs: 1_000 } } });
    const run = await start(await worker({ config: config(), mcpTools: tools, model: hangOnce }));
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(await log()).toContain('call hang');
    expect((await run.events()).filter(({ type }) => type === 'tool.result')).toMatchObject([{ outcome: 'unknown' }]);
  });

  it('waits for the approval that the config asks for', async () => {
    const { tools, log } = await odd({ tools: { repeatable: { approval: 'always' } } });
    const on = await worker({
      config: config(),
      mcpTools: tools,
      model: ({ messages }) => (messages.length < 3 ? call(['odd_repeatable', {}]) : say('done')),
    });
    const run = await start(on);
    await until(async () => (await run.progress()).status === 'waiting', 'the wait');
    expect(await log()).not.toContain('call repeatable');
    const [pending] = (await run.handle.query<ApprovalList>('approvals')).pending;
    await run.handle.executeUpdate('approve', { args: [{ callId: pending?.callId, by: 'ada' }] });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done' });
    expect(await log()).toContain('call repeatable');
  });

  it('is offered the tools that its agent names: of a server, by name or with a star', async () => {
    const { tools } = await odd();
    const offered = async (agent: Partial<NonNullable<Config['agents']>[string]>): Promise<string[]> => {
      const on = await worker({ config: config({ agents: { default: { ...AGENT, ...agent } } }), mcpTools: tools, model: () => say('ok') });
      await (await start(on)).result();
      return on.requests[0]?.tools.map(({ name }) => name).filter((name) => name.startsWith('odd_')) ?? [];
    };
    expect(await offered({ tools: ['odd_add'] })).toEqual(['odd_add']);
    expect(await offered({ tools: ['odd_*'], blockedTools: ['odd_die'] })).toHaveLength(15);
    expect(await offered({ mcp: [] })).toEqual([]);
    expect(await offered({ mcp: ['odd'], blockedTools: ['odd_*'] })).toEqual([]);
    expect(await offered({ gate: 'read-only' })).not.toContain('odd_die');
  });

  it('starts without a server that cannot be used, with a notice; a required one fails it', async () => {
    const { tools } = await odd({ env: { FAIL_START: '1' } });
    const on = await worker({ config: config(), mcpTools: tools, model: () => say('alone') });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'alone' });
    expect(JSON.stringify(await run.events())).toContain('MCP server odd cannot be used: it ended with exit code 3: the token is refused');
    const required = await odd({ env: { FAIL_START: '1' }, required: true });
    const strict = await worker({ config: config(), mcpTools: required.tools, model: () => say('never') });
    const failed = await start(strict);
    await until(
      async () =>
        (await failed.handle.describe()).raw.pendingActivities?.[0]?.lastFailure?.message?.includes('MCP server odd cannot be used') ===
        true,
      'the reason',
    );
    await failed.handle.cancel();
  });
});
