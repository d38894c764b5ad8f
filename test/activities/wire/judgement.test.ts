import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TOOL_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { RunEvent } from '../../../src/contracts/event.js';
import type { PendingApproval } from '../../../src/contracts/schemas/approval.js';
import { DESTRUCTIVE_COMMANDS } from '../../../src/define/agent-gate.js';
import { type AnyToolDefinition, defineTool } from '../../../src/define/define-tool.js';
import { createRunCommand } from '../../../src/tools/run-command.js';
import { createWriteFile } from '../../../src/tools/write-file.js';
import { bareTool } from '../../support/tools/sample-tools.js';
import { latch, type TestRun, until } from '../../support/use-workers.js';
import { tempWorkspace } from '../../tools/support/temp-workspace.js';
import { overWire, readTool, WIRE_FORMATS } from '../support/over-wire.js';
import { resultTexts } from '../support/result-texts.js';

const writeFile = createWriteFile([]);

const runCommand = createRunCommand({ sandbox: {}, protected: [] });

const READ = { toolCalls: [{ name: 'read', args: { path: 'a' } }] };
const FINAL = { text: 'what I found so far' };

describe.each(WIRE_FORMATS)('the judgement of a run whose model answers over $format', (wire) => {
  const { over, start } = overWire(wire);

  it('L10, contradiction 3: the same call again is nudged at 3, blocked at 4, and ended at 5 with a final answer', async () => {
    const ran: string[] = [];
    const { on, server } = await over({ script: { steps: [READ], loop: true, final: FINAL } }, [readTool(ran)], { policy: {} });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'loop_detected', output: FINAL.text, finalized: true, turns: 5 });
    expect(ran).toEqual(['a', 'a', 'a']);
    expect(eventsOf(await run.events(), 'loop.detected').map(({ turn, action }) => [turn, action])).toEqual([
      [3, 'nudge'],
      [4, 'block'],
      [5, 'stop'],
    ]);
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(Array(6).fill('answered'));
    expect(on.requests.map(({ messages }) => messages.filter(({ origin }) => origin === 'nudge').length)).toEqual([0, 0, 0, 1, 1, 2]);
  });

  it('contradiction 3, E-12: every call of the turn counts, with the whole of its arguments, whatever their order', async () => {
    const [long, same, alike] = ['x'.repeat(500), readAndNote('{"text":"a","n":1}'), readAndNote('{"n":1,"text":"a"}')];
    const note = defineTool({
      name: 'note',
      description: 'Notes.',
      parameters: z.object({ text: z.string() }),
      effect: 'read',
      execute: () => 'noted',
    });
    const others = [readAndNote(`{"text":"${long}a"}`), readAndNote(`{"text":"${long}a"}`), readAndNote(`{"text":"${long}b"}`)];
    const steps = [same, alike, ...others, same, alike, same, { text: 'ok' }];
    const { on } = await over({ script: { steps } }, [readTool([]), note], { policy: {} });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok' });
    expect(eventsOf(await run.events(), 'loop.detected').map(({ turn, action }) => [turn, action])).toEqual([[8, 'nudge']]);
  });

  it('A-21: the first request carries tool choice "required" in the words of the format, later ones do not', async () => {
    const { on, server } = await over({ script: { steps: [READ, READ, { text: 'ok' }] } }, [readTool([])], {
      policy: { firstToolChoice: 'required' },
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', output: 'ok' });
    const [required, auto] = wire.format === 'anthropic' ? [{ type: 'any' }, { type: 'auto' }] : ['required', 'auto'];
    expect(server.requests.map(({ body }) => body)).toMatchObject([
      { tool_choice: required },
      { tool_choice: auto },
      { tool_choice: auto },
    ]);
  });

  it('A-31: dispatch takes the turns it needs, chat exactly one, also when the model asks for tools all the same', async () => {
    const ran: string[] = [];
    const { on, server } = await over({ script: { steps: [READ, { text: 'ok' }], final: READ } }, [readTool(ran)], { policy: {} });
    expect(await (await start(on, { mode: 'dispatch' })).result()).toMatchObject({ reason: 'completed', output: 'ok', turns: 2 });
    expect(ran).toEqual(['a']);
    const chat = await start(on, { mode: 'chat' });
    expect(await chat.result()).toMatchObject({ reason: 'completed', turns: 1 });
    expect(ran).toEqual(['a']);
    expect(server.requests).toHaveLength(3);
    const types = (await chat.events()).map(({ type }) => type);
    expect(types).toEqual(['run.started', 'turn.started', 'model.completed', 'turn.ended', 'run.ended']);
    expect(resultTexts(await chat.messages())).toEqual([expect.stringContaining('not run')]);
  });

  it('A-29, contradiction 18: the events of a run with a tool turn come in this order, numbered from 1, turns too', async () => {
    const steps = [{ text: 'Let me see.', ...READ }, { text: 'It is a.' }];
    const { on } = await over({ script: { steps } }, [readTool([])], { policy: {} });
    const run = await start(on);
    await run.result();
    const events = await run.events();
    expect(events).toMatchObject([
      { seq: 1, type: 'run.started', agent: 'default', model: 'fake/model' },
      { seq: 2, type: 'turn.started', turn: 1 },
      { seq: 3, type: 'model.completed', turn: 1, text: 'Let me see.', usage: { inputTokens: expect.any(Number) } },
      { seq: 4, type: 'tool.call', turn: 1, tool: 'read', title: 'read', effect: 'read' },
      { seq: 5, type: 'tool.result', turn: 1, isError: false, outcome: 'ok' },
      { seq: 6, type: 'turn.ended', turn: 1 },
      { seq: 7, type: 'turn.started', turn: 2 },
      { seq: 8, type: 'model.completed', turn: 2, text: 'It is a.' },
      { seq: 9, type: 'turn.ended', turn: 2 },
      { seq: 10, type: 'run.ended', reason: 'completed', turns: 2 },
    ]);
    expect(events).toHaveLength(10);
    const [call, result] = [eventsOf(events, 'tool.call')[0], eventsOf(events, 'tool.result')[0]];
    expect(result?.callId).toBe(call?.callId);
  });

  it('B-28: a message sent while a tool runs is in the next request, behind the result, once, and told as delivered', async () => {
    const gate = latch();
    const held = bareTool('held', () => gate.opened.then(() => 'the result'), { effect: 'read' });
    const steps = [{ toolCalls: [{ name: 'held' }] }, { toolCalls: [{ name: 'held' }] }, { text: 'ok' }];
    const { on, server } = await over({ script: { steps } }, [held], { policy: {} });
    const run = await start(on);
    await until(async () => (await run.progress()).phase === 'tools', 'the tool');
    await run.handle.signal('steer', { id: 's1', text: 'mind the gap' });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', unconsumed: [] });
    const bodies = server.requests.map(({ body }) => JSON.stringify(body));
    expect(bodies.map((body) => body.split('mind the gap').length - 1)).toEqual([0, 1, 1]);
    expect(bodies[1]?.indexOf('mind the gap')).toBeGreaterThan(bodies[1]?.indexOf('the result') ?? Number.POSITIVE_INFINITY);
    expect(eventsOf(await run.events(), 'steer.delivered')).toMatchObject([{ id: 's1', turn: 2 }]);
  });

  it('B36: of twenty calls one asks a person; the others run meanwhile, and all results stand in the order of the calls', async () => {
    const ran: string[] = [];
    const deploy = { ...readTool(ran), name: 'deploy', effect: 'once' } as const satisfies AnyToolDefinition;
    const toolCalls = Array.from({ length: 20 }, (_, at) => ({ name: at === 7 ? 'deploy' : 'read', args: { path: `${at}` } }));
    const { on } = await over({ script: { steps: [{ toolCalls }, { text: 'ok' }] } }, [readTool(ran), deploy], {
      policy: { gate: { profile: 'ask-before-writing' } },
    });
    const run = await start(on);
    await until(() => ran.length === 19, 'the other calls');
    const { pending } = await approvalsOf(run);
    expect(pending.map(({ tool, args }) => ({ tool, args }))).toEqual([{ tool: 'deploy', args: { path: '7' } }]);
    expect(ran).not.toContain('7');
    await run.handle.executeUpdate('approve', { args: [{ callId: pending[0]?.callId, by: 'ada' }] });
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 20 });
    expect(resultTexts(on.requests[1]?.messages ?? [])).toEqual(toolCalls.map(({ args }) => `read ${args.path}`));
  });

  it('L1, contradiction 11: of 100 MB of output the model reads 50 KB, with its sizes and a reference to the whole', async () => {
    const { root } = await tempWorkspace();
    const command = 'yes 0123456789 | head -c 104857600';
    const { on, server } = await over(
      { script: { steps: [{ toolCalls: [{ name: 'run_command', args: { command } }] }, { text: 'ok' }] } },
      [runCommand],
      { policy: {} },
    );
    expect(await (await start(on, { context: { workspace: root } })).result()).toMatchObject({ reason: 'completed', output: 'ok' });
    const [told = ''] = resultTexts(on.requests[1]?.messages ?? []);
    expect(Buffer.byteLength(told)).toBeLessThanOrEqual(TOOL_LIMITS.outputBytesMax);
    expect(told.split('\n').length).toBeLessThanOrEqual(TOOL_LIMITS.outputLinesMax);
    expect(told).toMatch(/^exit code 0\n/u);
    expect(told).toMatch(/\n\[output cut: 100\.0 MiB in 9532510 lines; .*read_artifact \{"ref":"sha256:/u);
    expect(JSON.stringify(server.requests[1]?.body).length).toBeLessThan(2 * TOOL_LIMITS.outputBytesMax);
  });

  it('L3: a tool that throws 3 MB is a failed result of 50 KB at once, and the run goes on', async () => {
    const broken = bareTool('broken', () => {
      throw new Error('it broke '.repeat(350_000));
    });
    const { on } = await over({ script: { steps: [{ toolCalls: [{ name: 'broken' }] }, { text: 'ok' }] } }, [broken], { policy: {} });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok' });
    const [told = ''] = resultTexts(on.requests[1]?.messages ?? []);
    expect(told).toContain('it broke');
    expect(Buffer.byteLength(told)).toBeLessThanOrEqual(TOOL_LIMITS.outputBytesMax);
    const [result] = eventsOf(await run.events(), 'tool.result');
    expect(result).toMatchObject({ isError: true, outcome: 'failed' });
    // long before the time that the tool itself has
    expect(result?.durationMs).toBeLessThan(TOOL_LIMITS.timeoutMsDefault / 3);
  });

  it('X13: a rule that lets a simple command run lets none run that only begins with it', async () => {
    const { root } = await tempWorkspace();
    const hidden = ['; ', ' && ', ' | ', '\n', ' & '].map((then) => `echo hi${then}touch owned`);
    const commands = [...hidden, 'echo $(touch owned)', 'echo `touch owned`', 'X=1 touch owned', 'sh -c "touch owned"', 'echo hi >owned'];
    const toolCalls = [...commands, 'echo simple'].map((command) => ({ name: 'run_command', args: { command } }));
    const { on } = await over({ script: { steps: [{ toolCalls }, { text: 'ok' }] } }, [runCommand], {
      policy: { gate: { profile: 'read-only', rules: [{ tool: 'run_command', command: 'echo', decision: 'allow' }] } },
    });
    const run = await start(on, { context: { workspace: root } });
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 1 });
    const told = resultTexts(on.requests[1]?.messages ?? []);
    expect(told.slice(0, -1)).toEqual(commands.map(() => 'blocked by gate: the profile read-only does not allow this tool'));
    expect(told.at(-1)).toBe('exit code 0\nsimple');
    expect(existsSync(join(root, 'owned'))).toBe(false);
  });

  it('A-27: nothing is written outside the workspace, and destructive commands do not run', async () => {
    const workspace = await tempWorkspace();
    const { root, outside } = workspace;
    await workspace.put('kept.txt', 'kept');
    const toolCalls = [
      { name: 'write_file', args: { path: '../outside/new.txt', content: 'x' } },
      { name: 'write_file', args: { path: join(outside, 'new.txt'), content: 'x' } },
      { name: 'run_command', args: { command: 'rm -rf kept.txt' } },
      { name: 'run_command', args: { command: 'true && rm -fr .' } },
    ];
    const { on } = await over({ script: { steps: [{ toolCalls }, { text: 'ok' }] } }, [writeFile, runCommand], {
      policy: { gate: { rules: [...DESTRUCTIVE_COMMANDS] } },
    });
    const run = await start(on, { context: { workspace: root } });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok' });
    const told = resultTexts(on.requests[1]?.messages ?? []);
    expect(told.map((text) => text.slice(0, 17))).toEqual([
      'OUTSIDE_WORKSPACE',
      'OUTSIDE_WORKSPACE',
      'blocked by gate: ',
      'blocked by gate: ',
    ]);
    expect([existsSync(join(outside, 'new.txt')), existsSync(join(root, 'kept.txt'))]).toEqual([false, true]);
  });
});

function eventsOf<Type extends RunEvent['type']>(events: readonly RunEvent[], type: Type): Extract<RunEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);
}

/** A turn whose first call is always the same. */
function readAndNote(argsText: string) {
  return {
    toolCalls: [
      { name: 'read', args: { path: 'always' } },
      { name: 'note', argsText },
    ],
  };
}

function approvalsOf({ handle }: TestRun): Promise<{ pending: PendingApproval[] }> {
  return handle.query('approvals');
}
