import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it } from 'vitest';
import { MCP_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { RunSetup } from '../../../src/contracts/schemas/prepared-run.js';
import type { Config } from '../../../src/define/define-config.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { call, say } from '../../support/agent-worker.js';
import { replayHistory } from '../../support/test-worker.js';
import { useWorkers } from '../../support/use-workers.js';
import { callTool, RUN } from './support/calls.js';
import { useMcp } from './support/mcp-kit.js';

const SERVER = fileURLToPath(new URL('support/changing-server.mjs', import.meta.url));
const mcpServers = { door: { command: process.execPath, args: [SERVER] } };
const config = (agent: object = {}): Config => ({
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: { default: { description: 'Uses the door.', prompt: 'Use the door.', ...agent } },
  mcpServers,
});

/** A model that calls these tools, one a turn, and notes what it is offered. */
function caller(...names: readonly string[]) {
  const offered: string[][] = [];
  const model = ({ messages, tools }: ModelRequest): ModelAnswer => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    offered[turn] = tools.map(({ name }) => name.replace(/^door_/u, ''));
    const name = names[turn];
    return name === undefined ? say('done') : call([`door_${name}`, {}]);
  };
  return { model, offered };
}

describe('a run whose MCP server changes its tools', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();
  const { open } = useMcp();

  it('B-25: is offered the new ones from the next turn on, with an event; without a change there is neither', async () => {
    const { model, offered } = caller('plain', 'unlock', 'secret', 'lock');
    const run = await start(await worker({ config: config(), mcpTools: open({ servers: mcpServers }), model }));
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 4 });
    const before = ['unlock', 'lock', 'churn', 'plain'];
    expect(offered).toEqual([before, before, [...before, 'secret'], [...before, 'secret'], before]);
    expect((await run.events()).filter(({ type }) => type === 'tools.changed')).toMatchObject([
      { turn: 2, added: ['door_secret'], removed: [], changed: ['door_plain'] },
      { turn: 4, added: [], removed: ['door_secret'], changed: ['door_plain'] },
    ]);
    expect(JSON.stringify(await run.messages())).toContain('did secret');
    const { tools } = await run.handle.query<RunSetup>('setup');
    expect(tools.map(({ name }) => name)).toEqual(before.map((name) => `door_${name}`));
    await replayHistory(inject('workflowBundlePath'), await run.handle.fetchHistory(), run.handle.workflowId);
  });

  it('keeps them over continue-as-new, where another worker asks for the setup', async () => {
    const { model, offered } = caller('unlock', 'plain', 'plain', 'plain');
    const on = await worker({ config: config(), mcpTools: open({ servers: mcpServers }), model });
    const run = await start(on, { bounds: { continueAsNewEvents: 20 } });
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 4 });
    expect(offered.at(-1)).toContain('secret');
    expect((await run.events()).filter(({ type }) => type === 'tools.changed')).toHaveLength(1);
    expect((await run.events()).some(({ type }) => type === 'continued')).toBe(true);
  });

  it('is offered no new tool that its agent blocks or that its gate forbids', async () => {
    const { model, offered } = caller('unlock', 'plain');
    const blocked = config({ blockedTools: ['door_secret'] });
    const run = await start(await worker({ config: blocked, mcpTools: open({ servers: mcpServers }), model }));
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(offered.flat()).not.toContain('secret');
  });

  it('keeps its tools while a changed list cannot be read, with one notice for each time that it breaks', async () => {
    const { model, offered } = caller('plain', 'break', 'plain', 'unlock', 'mend', 'break', 'secret');
    const servers = { door: { ...mcpServers.door, env: { BREAKS: '1' } } };
    const run = await start(await worker({ config: { ...config(), mcpServers: servers }, mcpTools: open({ servers }), model }));
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 7 });
    const before = ['unlock', 'lock', 'churn', 'plain', 'break', 'mend'];
    const after = ['unlock', 'lock', 'churn', 'plain', 'secret', 'break', 'mend'];
    expect(offered).toEqual([before, before, before, before, before, after, after, after]);
    const problem = 'MCP server door changed its tools, and the new list cannot be read: MCP error -32603: the catalogue is locked';
    const notices = (await run.events()).flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    expect(notices).toEqual([`${problem}. The run keeps those that it has.`, `${problem}. The run keeps those that it has.`]);
    expect(JSON.stringify(await run.messages())).toContain('did secret');
    await replayHistory(inject('workflowBundlePath'), await run.handle.fetchHistory(), run.handle.workflowId);
  });

  it('a run that starts while a changed list cannot be read is offered the last one that could, with a notice', async () => {
    const servers = { door: { ...mcpServers.door, env: { BREAKS: '1' } } };
    const tools = open({ servers });
    await callTool(tools, 'door_break');
    const { tools: offered, notices } = await tools.offer(['door'], RUN);
    expect(offered.map(({ tool }) => tool.name)).toContain('door_plain');
    expect(notices).toEqual([
      'MCP server door changed its tools, and the new list cannot be read: MCP error -32603: the catalogue is locked. The run keeps those that it has.',
    ]);
  });

  it('keeps its tools when a server changes them without end', async () => {
    const { listChangesMax } = MCP_LIMITS;
    const { model } = caller(...Array.from({ length: listChangesMax + 3 }, () => 'churn'));
    const quiet = config({ loop: { onLoop: 'off' } });
    const run = await start(await worker({ config: quiet, mcpTools: open({ servers: mcpServers }), model }), { maxTurns: 40 });
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: listChangesMax + 3 });
    const events = await run.events();
    expect(events.filter(({ type }) => type === 'tools.changed')).toHaveLength(listChangesMax);
    const notices = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    expect(notices).toEqual([`MCP servers changed their tools more than ${listChangesMax} times: the run keeps the present ones`]);
  });
});
