import { describe, expect, it } from 'vitest';
import { createHookRunner } from '../../../src/activities/hooks/hook-runner.js';
import { hookFlags } from '../../../src/activities/prepare/run-policy.js';
import { defineHook, type HookContext, type HookDecision, type HookDefinition } from '../../../src/define/define-hook.js';

const NEVER = new AbortController().signal;
const CALL: HookContext = { runId: 'r', agent: 'a', turn: 1, tool: 'write_file', args: { path: 'a.txt' }, signal: NEVER };

describe('hooks', () => {
  it('L3: a failure of megabytes is told in a line, without what looks like a key', async () => {
    const told: string[] = [];
    const loud = hook({
      run: () => {
        throw new Error(`key-abcdef123 ${'x'.repeat(3_000_000)}`);
      },
    });
    const outcome = await createHookRunner([loud], (message) => void told.push(message)).run('before-tool', CALL);
    expect(JSON.stringify([outcome, told]).length).toBeLessThan(4_000);
    expect(JSON.stringify([outcome, told])).not.toContain('abcdef');
  });

  it('A-28: without hooks everything is allowed', async () => {
    const none = createHookRunner([], fail);
    expect(await none.run('before-tool', CALL)).toEqual({ action: 'allow' });
    expect(none.matches('before-tool', CALL)).toBe(false);
    expect(hookFlags()).toEqual({ beforeRun: false, afterRun: false, error: false, unknownTools: false });
  });

  it('A-23: the lower number runs first, equal numbers in the order of the config, and the first that blocks stops the chain', async () => {
    const asked: string[] = [];
    const say = (name: string, priority: number | undefined, decision: HookDecision) =>
      hook({
        name,
        ...(priority === undefined ? {} : { priority }),
        run: () => {
          asked.push(name);
          return decision;
        },
      });
    const hooks = [
      say('last', 200, { action: 'allow' }),
      say('first-of-two', undefined, { action: 'allow' }),
      say('second-of-two', undefined, { action: 'block', reason: 'no' }),
      say('early', 1, { action: 'allow' }),
    ];
    expect(await createHookRunner(hooks, fail).run('before-tool', CALL)).toEqual({ action: 'block', hook: 'second-of-two', reason: 'no' });
    expect(asked).toEqual(['early', 'first-of-two', 'second-of-two']);
  });

  it.each<[string, Partial<HookDefinition>, Partial<HookContext>, boolean]>([
    ['no filter', {}, {}, true],
    ['empty lists', { tools: [], paths: [] }, {}, true],
    ['its exact name', { tools: ['write_file'] }, {}, true],
    ['another name', { tools: ['write'] }, {}, false],
    ['a glob of its name', { tools: ['x', '*_file'] }, {}, true],
    ['a glob of other names', { tools: ['git_*'] }, {}, false],
    ['a glob of its path', { paths: ['src/**'] }, { args: { path: 'src/a/b.ts' } }, true],
    ['a glob of its file_path', { paths: ['*.ts'] }, { args: { file_path: 'src/a/b.ts' } }, true],
    ['a glob of another path', { paths: ['src/**'] }, { args: { path: 'srcs/b.ts' } }, false],
    ['a path written in a roundabout way', { paths: ['.git/**'] }, { args: { path: './src/../.git/config' } }, true],
    ['an absolute path in the workspace', { paths: ['.git/**'] }, { args: { path: '/w/.git/config' }, workspace: '/w' }, true],
    ['an absolute path outside of it', { paths: ['/etc/**'] }, { args: { path: '/etc/passwd' }, workspace: '/w' }, true],
    ['a glob of paths and no path', { paths: ['**'] }, { args: { command: 'ls' } }, false],
    ['a glob of paths and a path that is no text yet', { paths: ['.git/**'] }, { args: { path: ['.git/config'] } }, true],
    [
      'a path that leaves the workspace and comes back',
      { paths: ['.git/**'] },
      { args: { path: '../w/.git/config' }, workspace: '/v/w' },
      true,
    ],
    ['a path through another name of the workspace', { paths: ['.git/**'] }, { args: { path: '/real/w/.git/x' }, workspace: '/w' }, true],
    ['a path to a neighbour of the workspace', { paths: ['src/**'] }, { args: { path: '../wide/a.ts' }, workspace: '/v/w' }, false],
    ['both, when only the tool matches', { tools: ['write_file'], paths: ['src/**'] }, {}, false],
  ])('A-24: a filter of %s', async (_, filter, question, matches) => {
    const runner = createHookRunner([hook({ ...filter, run: () => ({ action: 'block', reason: 'met' }) })], fail);
    expect(runner.matches('before-tool', { ...CALL, ...question })).toBe(matches);
    expect((await runner.run('before-tool', { ...CALL, ...question })).action).toBe(matches ? 'block' : 'allow');
  });

  it('what one hook modifies the next one sees, also in its filter of paths, and the last word stands', async () => {
    const seen: unknown[] = [];
    const hooks = [
      hook({ name: 'a', run: () => ({ action: 'modify', args: { path: 'safe/a.txt' } }) }),
      hook({
        name: 'b',
        paths: ['safe/**'],
        run: ({ args }) => {
          seen.push(args);
          return { action: 'modify', args: { path: 'safe/b.txt' } };
        },
      }),
    ];
    expect(await createHookRunner(hooks, fail).run('before-tool', CALL)).toEqual({
      action: 'modify',
      hook: 'b',
      args: { path: 'safe/b.txt' },
    });
    expect(seen).toEqual([{ path: 'safe/a.txt' }]);
  });

  it('a request modified in part keeps its other parts', async () => {
    const request = { prompt: 'p', messages: [], tools: [{ name: 't', description: 'd', schema: {} }] };
    const hooks = [hook({ on: 'before-model', run: () => ({ action: 'modify', request: { prompt: 'q' } }) })];
    const outcome = await createHookRunner(hooks, fail).run('before-model', { ...CALL, request });
    expect(outcome).toEqual({ action: 'modify', hook: 'h', request: { ...request, prompt: 'q' } });
  });

  it('a hook that changes what it was given in place changes nothing', async () => {
    const question = { ...CALL, args: { path: 'a.txt' } };
    expect(await createHookRunner([hook({ run: redirect })], fail).run('before-tool', question)).toEqual({ action: 'allow' });
    expect(question.args).toEqual({ path: 'a.txt' });
  });

  const broken: readonly (readonly [string, Partial<HookDefinition>, string])[] = [
    ['throws at once', { run: () => raise('no database') }, 'the hook failed: no database'],
    ['rejects', { run: () => Promise.reject(new Error('no database')) }, 'the hook failed: no database'],
    ['never answers', { timeoutMs: 100, run: () => new Promise<never>(() => undefined) }, 'the hook failed: it took longer than 100 ms'],
    ['answers nothing', { run: () => undefined as never }, 'the hook failed: before-tool: answer { action: "allow" }'],
    ['answers yes', { run: () => true as never }, 'the hook failed: before-tool: answer'],
    ['modifies what it may not', { run: () => ({ action: 'modify', output: 'x' }) }, 'the hook failed: before-tool: answer'],
  ];

  it.each(broken)('a hook that %s blocks, and the failure is told', async (_, options, reason) => {
    const told: string[] = [];
    const outcome = await createHookRunner([hook(options)], (line) => told.push(line)).run('before-tool', CALL);
    expect(outcome).toMatchObject({ action: 'block', hook: 'h', reason: expect.stringContaining(reason) });
    expect(told).toHaveLength(1);
  });

  it.each(broken)('a hook with onError allow that %s is passed over, and the failure is told', async (_, options) => {
    const told: string[] = [];
    const hooks = [
      hook({ ...options, onError: 'allow' }),
      hook({ name: 'next', priority: 200, run: () => ({ action: 'abort', reason: 'x' }) }),
    ];
    const outcome = await createHookRunner(hooks, (line) => told.push(line)).run('before-tool', CALL);
    expect(outcome).toEqual({ action: 'abort', hook: 'next', reason: 'x' });
    expect(told[0]).toContain('counts as "allow"');
  });

  it('a refusal without a reason is a refusal, also of a hook with onError allow', async () => {
    const bare = hook({ onError: 'allow', run: () => ({ action: 'block' }) as never });
    const outcome = await createHookRunner([bare], fail).run('before-tool', CALL);
    expect(outcome).toEqual({ action: 'block', hook: 'h', reason: 'no reason given' });
  });

  it('a stop of the call ends the chain as blocked, also for a hook with onError allow, and aborts its signal', async () => {
    const stop = new AbortController();
    let signal: AbortSignal | undefined;
    const run = (context: HookContext): Promise<never> => {
      signal = context.signal;
      queueMicrotask(() => stop.abort());
      return new Promise(() => undefined);
    };
    const outcome = await createHookRunner([hook({ onError: 'allow', run })], fail).run('before-tool', { ...CALL, signal: stop.signal });
    expect(outcome).toMatchObject({ action: 'block', reason: 'stopped before its hooks finished' });
    expect(signal?.aborted).toBe(true);
  });

  it('a key in what a hook throws is taken out, and a long message is cut', async () => {
    const leaky = hook({ run: () => raise(`sk-abcdef0123456789 ${'x'.repeat(5_000)}`) });
    const outcome = await createHookRunner([leaky], () => undefined).run('before-tool', CALL);
    expect(JSON.stringify(outcome)).not.toContain('abcdef0123456789');
    expect(JSON.stringify(outcome).length).toBeLessThan(1_200);
  });
});

describe('hookFlags', () => {
  it('tells which hooks the workflow asks for by itself', () => {
    expect(hookFlags([hook({ on: 'before-run' })])).toMatchObject({ beforeRun: true, afterRun: false, unknownTools: false });
    expect(hookFlags([hook({ on: 'error' }), hook({ on: 'after-run' })])).toMatchObject({ error: true, afterRun: true });
  });

  it('E-07: a hook without a list of plain names means tools that there are not, too', () => {
    expect(hookFlags([hook({})]).unknownTools).toBe(true);
    expect(hookFlags([hook({ on: 'after-tool', tools: ['git_*'] })]).unknownTools).toBe(true);
    expect(hookFlags([hook({ tools: ['write_file'] })]).unknownTools).toBe(false);
    expect(hookFlags([hook({ on: 'after-model' })]).unknownTools).toBe(false);
  });
});

function hook(options: Partial<HookDefinition>): HookDefinition {
  return defineHook({ name: 'h', on: 'before-tool', run: () => ({ action: 'allow' }), ...options });
}

function redirect({ args }: HookContext): HookDecision {
  Object.assign(args as object, { path: '/etc/passwd' });
  return { action: 'allow' };
}

function raise(message: string): never {
  throw new Error(message);
}

function fail(message: string): never {
  throw new Error(`nothing was to fail: ${message}`);
}
