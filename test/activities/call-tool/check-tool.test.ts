import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import type { GateAnswer, GateFunction } from '../../../src/define/agent-gate.js';
import { defineHook, type HookDefinition, type HookFunction } from '../../../src/define/define-hook.js';
import { type AnyToolDefinition, defineTool } from '../../../src/define/define-tool.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { resultTexts } from '../support/result-texts.js';

const ARGS = { path: 'notes.md' };

describe('checkTool', () => {
  const { worker, start } = useWorkers();

  it('A-23: a call that a hook blocks does not run; the model reads the hook and the reason; the next hook is not asked', async () => {
    const asked: string[] = [];
    const hooks = [
      hook('keep-out', () => ({ action: 'block', reason: 'not this file' }), 1),
      hook('never-asked', () => {
        asked.push('never-asked');
        return { action: 'allow' };
      }),
    ];
    const { texts, ran, events } = await callOnce({ hooks });
    expect(texts).toEqual(['blocked by hook keep-out: not this file']);
    expect(ran).toEqual([]);
    expect(asked).toEqual([]);
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool.blocked', by: 'hook keep-out', reason: 'not this file' }));
  });

  it('A-24: a hook is asked about the calls that its tools and paths mean, and about no others', async () => {
    const asked: string[] = [];
    const about = (name: string, filter: Pick<HookDefinition, 'tools' | 'paths'>): HookDefinition =>
      defineHook({
        name,
        on: 'before-tool',
        ...filter,
        run: () => {
          asked.push(name);
          return { action: 'allow' };
        },
      });
    const hooks = [
      about('its name', { tools: ['write'] }),
      about('a glob of its name', { tools: ['wr*'] }),
      about('its path', { paths: ['*.md'] }),
      about('no filter', {}),
      about('another name', { tools: ['read'] }),
      about('another path', { tools: ['write'], paths: ['src/**'] }),
    ];
    const { ran } = await callOnce({ hooks });
    expect(asked).toEqual(['its name', 'a glob of its name', 'its path', 'no filter']);
    expect(ran).toEqual([ARGS]);
  });

  it('A-26: hooks after a tool are skipped for a call that was blocked', async () => {
    let after = 0;
    const late: HookDefinition = defineHook({
      name: 'late',
      on: 'after-tool',
      run: () => {
        after += 1;
        return { action: 'allow' };
      },
    });
    await callOnce({ hooks: [hook('keep-out', () => ({ action: 'block', reason: 'no' })), late] });
    expect(after).toBe(0);
  });

  it('what a hook makes of the arguments is what runs; the transcript keeps what the model wrote', async () => {
    const hooks = [hook('redirect', ({ args }) => ({ action: 'modify', args: { ...(args as object), path: 'safe/notes.md' } }))];
    const { ran, calls } = await callOnce({ hooks });
    expect(ran).toEqual([{ path: 'safe/notes.md' }]);
    expect(calls).toEqual([ARGS]);
  });

  it("arguments that a hook made unfit for the tool's schema are blocked", async () => {
    const { texts, ran } = await callOnce({ hooks: [hook('clumsy', () => ({ action: 'modify', args: { path: 7 } }))] });
    expect(texts[0]).toMatch(/^blocked by hook clumsy: its changed arguments are not valid: invalid arguments for write: path: /u);
    expect(ran).toEqual([]);
  });

  it('a hook that throws blocks the call, and the run goes on', async () => {
    const hooks = [
      hook('broken', () => {
        throw new Error('no database');
      }),
    ];
    const { texts, ran, result } = await callOnce({ hooks });
    expect(texts).toEqual(['blocked by hook broken: the hook failed: no database']);
    expect(ran).toEqual([]);
    expect(result.reason).toBe('completed');
  });

  it.each<[string, () => GateAnswer, string | undefined]>([
    ['allows', () => ({ action: 'allow' }), undefined],
    ['blocks', () => ({ action: 'block', reason: 'not on a Friday' }), 'blocked by gate: not on a Friday'],
    ['throws', () => raise('no calendar'), 'blocked by gate: the gate failed: no calendar'],
    ['answers nothing', () => undefined as never, 'blocked by gate: the gate failed: it returned neither'],
  ])('the gate function of an agent that %s decides before all hooks', async (_, answer, text) => {
    const asked: string[] = [];
    const hooks = [
      hook('later', ({ tool = '' }) => {
        asked.push(tool);
        return { action: 'allow' };
      }),
    ];
    const gate: GateFunction = (context, tool) => {
      expect([context.agent, context.args, tool.name, tool.effect]).toEqual(['default', ARGS, 'write', 'idempotent']);
      return answer();
    };
    const { texts, ran } = await callOnce({ gate, hooks });
    expect(texts[0]).toContain(text ?? 'written');
    expect(ran).toHaveLength(text === undefined ? 1 : 0);
    expect(asked).toEqual(text === undefined ? ['write'] : []);
  });

  it('a gate function is asked again about arguments that a hook wrote', async () => {
    const hooks = [hook('redirect', () => ({ action: 'modify', args: { path: 'secret/x' } }))];
    const { texts, ran } = await callOnce({ gate: keepSecret, hooks });
    expect(texts).toEqual(['blocked by gate: secret']);
    expect(ran).toEqual([]);
  });

  it.each<[string, AnyToolDefinition['approval'], string]>([
    ['always', 'always', 'every call of this tool requires approval'],
    ['a function that says yes', () => true, 'the tool requires approval for these arguments'],
    ['a function that throws', () => raise('no rules for key-abcdef123'), "the tool's approval function failed: no rules for [redacted]"],
    ['a function that gives a promise', () => Promise.resolve(false) as never, 'the tool requires approval for these arguments'],
  ])('an approval that is %s lets a person decide before the call runs', async (_, approval, reason) => {
    const { tool, ran } = writer(approval);
    const run = await start(await worker({ model: (_request, n) => (n === 1 ? call(['write', ARGS]) : say('ok')), tools: [tool] }));
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the approval');
    const { pending } = await run.handle.query<{ pending: readonly { callId: string }[] }>('approvals');
    expect(pending).toMatchObject([{ tool: 'write', args: ARGS, askedBy: 'tool', reason }]);
    expect(ran).toEqual([]);
    await run.handle.executeUpdate('approve', { args: [{ callId: pending[0]?.callId, by: 'me' }] });
    await run.result();
    expect(ran).toEqual([ARGS]);
  });

  it('W20: on a worker that does not have the gate of the agent nothing runs', async () => {
    const { tool, ran } = writer('always');
    const policy = { gateFunction: true };
    const run = await start(await worker({ model: (_request, n) => (n === 1 ? call(['write', ARGS]) : say('ok')), tools: [tool], policy }));
    await run.result();
    const texts = resultTexts(await run.messages());
    expect(texts).toEqual(['blocked by gate: the gate of agent default is not on this worker']);
    expect(ran).toEqual([]);
  });

  it.each([
    ['has no approval any more', true],
    ['is not there any more', false],
  ])('D5: a tool that asked when the run began is asked about, although on this worker it %s', async (_, isThere) => {
    const [asked, go] = [latch(), latch()];
    const before = writer('always');
    const after = writer('never');
    const taskQueue = `deploy-${Math.random()}`;
    const old = await worker({
      model: async (_request, n) => {
        asked.open();
        await go.opened;
        return n === 1 ? call(['write', ARGS]) : say('ok');
      },
      tools: [before.tool],
      policy: {},
      taskQueue,
    });
    const run = await start(old);
    await asked.opened;
    const stopped = old.shutdown();
    await worker({
      model: (_request, n) => (n === 1 ? call(['write', ARGS]) : say('ok')),
      tools: isThere ? [after.tool] : [],
      policy: {},
      taskQueue,
    });
    go.open();
    await stopped;
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the approval');
    const { pending } = await run.handle.query<ApprovalList>('approvals');
    expect(pending).toMatchObject([{ tool: 'write', askedBy: 'tool', reason: 'this tool required approval when the run started' }]);
    expect(after.ran).toEqual([]);
    await run.handle.signal('cancel', {});
    await run.result();
  });

  it('an approval that is a function that says no asks nobody', async () => {
    const { tool, ran } = writer(() => false);
    const run = await start(await worker({ model: (_request, n) => (n === 1 ? call(['write', ARGS]) : say('ok')), tools: [tool] }));
    await run.result();
    expect(ran).toEqual([ARGS]);
  });

  it('nobody is asked about a call whose arguments do not fit: the model reads why', async () => {
    const { tool, ran } = writer('always');
    const on = await worker({ model: (_request, n) => (n === 1 ? call(['write', { path: 7 }]) : say('ok')), tools: [tool] });
    await (await start(on)).result();
    expect(resultTexts(on.requests[1]?.messages ?? [])[0]).toContain('invalid arguments for write: path: ');
    expect(ran).toEqual([]);
  });

  it('a hook that aborts keeps every call of the answer from starting', async () => {
    const { tool, ran } = writer('never');
    const hooks = [hook('stop-all', () => ({ action: 'abort', reason: 'the disk is full' }))];
    const on = await worker({ model: (_, n) => (n === 1 ? call(['write', ARGS], ['write', ARGS]) : say('ok')), tools: [tool], hooks });
    const run = await start(on);
    await Promise.allSettled([run.result()]);
    expect(ran).toEqual([]);
    const [first, second] = resultTexts(await run.messages());
    expect(first).toContain('ended by hook stop-all');
    expect(second).toContain('ended by hook stop-all');
  });

  it('a cancel does not wait for a hook that ignores its signal', async () => {
    const started = latch();
    const hooks = [
      hook('hangs', () => {
        started.open();
        return new Promise<never>(() => undefined);
      }),
    ];
    const { tool, ran } = writer('never');
    const on = await worker({ model: () => call(['write', ARGS]), tools: [tool], hooks });
    const run = await start(on);
    await started.opened;
    const cancelledAt = Date.now();
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(Date.now() - cancelledAt).toBeLessThan(8_000);
    expect(ran).toEqual([]);
  });

  /** One run with one call of one tool that writes. */
  async function callOnce(options: Pick<AgentWorkerOptions, 'hooks' | 'gate'>) {
    const { tool, ran } = writer('never');
    const on = await worker({ model: (_, n) => (n === 1 ? call(['write', ARGS]) : say('ok')), tools: [tool], ...options });
    const run = await start(on);
    const result = await run.result();
    const messages = on.requests[1]?.messages ?? [];
    const calls = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_call' ? [part.args] : [])));
    return { result, ran, calls, texts: resultTexts(messages), events: await run.events() };
  }
});

function writer(approval: AnyToolDefinition['approval']) {
  const ran: unknown[] = [];
  const tool = defineTool({
    name: 'write',
    description: 'Writes.',
    parameters: z.strictObject({ path: z.string() }),
    effect: 'idempotent',
    approval: approval as 'never',
    execute: (args) => {
      ran.push(args);
      return 'written';
    },
  });
  return { tool, ran };
}

function hook(name: string, run: HookFunction, priority?: number): HookDefinition {
  return defineHook({ name, on: 'before-tool', run, ...(priority === undefined ? {} : { priority }) });
}

const keepSecret: GateFunction = ({ args }) =>
  (args as { path: string }).path.startsWith('secret') ? { action: 'block', reason: 'secret' } : { action: 'allow' };

function raise(message: string): never {
  throw new Error(message);
}
