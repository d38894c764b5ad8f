import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CAPABILITY_LEVEL, DELEGATION_LEVEL } from '../../../src/contracts/capability-level.js';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { failedTasks } from '../../support/histories/failed-tasks.js';
import { candidate, fakeModels } from '../../support/model-route.js';
import { castConfig } from '../../support/subagents/cast.js';
import { look } from '../../support/tools/sample-tools.js';
import { latch, type TestRun, testRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { type SavedBundle, useSavedBundles } from './saved-bundles.js';

/** A wait of a run in which its worker is replaced. */
interface Wait {
  readonly options: () => AgentWorkerOptions;
  readonly input?: Partial<RunInput>;
  /** Brings a new run into the wait. */
  readonly enter: (run: TestRun) => Promise<void>;
  /** Ends the wait. */
  readonly leave: (run: TestRun) => Promise<unknown>;
}

const act = defineTool({
  name: 'act',
  description: 'Acts when a person allows it.',
  parameters: z.strictObject({ n: z.number() }),
  approval: 'always',
  execute: ({ n }) => `did ${n}`,
});

const waiting = (run: TestRun, what: string): Promise<void> =>
  until(async () => (await run.progress()).waitingFor?.includes(what) === true, what);

/** Waits in the first model call, for a signal; the worker that comes next answers at once. */
function heldInModel(signal: string, given: object, status: string): Wait {
  let held: ReturnType<typeof latch>;
  return {
    options: () => {
      held = latch();
      return { model: (_, n) => (n === 1 ? held.opened.then(() => call(['look', { n }])) : say('done')), tools: [look], policy: {} };
    },
    enter: async (run) => {
      await until(async () => (await run.progress()).phase === 'model', 'the model call');
      await run.handle.signal(signal, given);
      held.open();
      await until(async () => (await run.progress()).status === status, status);
    },
    leave: (run) => run.handle.signal(signal === 'pause' ? 'resume' : 'release'),
  };
}

function unreachable(): Wait {
  let isBack = false;
  return {
    options: () => ({
      model: () => {
        if (!isBack) throw new ModelError('Model.Unreachable', 'connection refused', { retryAfterMs: 500 });
        return say('done');
      },
      policy: {},
    }),
    enter: (run) => waiting(run, 'model unreachable'),
    leave: () => {
      isBack = true;
      return Promise.resolve();
    },
  };
}

const WAITS: Readonly<Record<string, () => Wait>> = {
  'a pause': () => heldInModel('pause', {}, 'paused'),
  'a hold': () => heldInModel('hold', { ttlMs: 3_600_000 }, 'waiting'),
  'an unreachable model': unreachable,
  'an approval': () => ({
    options: () => ({ model: ({ messages }) => (messages.length < 3 ? call(['act', { n: 1 }]) : say('done')), tools: [act], policy: {} }),
    enter: (run) => until(async () => (await run.progress()).pendingApprovals === 1, 'the approval'),
    leave: async (run) => {
      const { pending } = await run.handle.query<{ pending: { callId: string }[] }>('approvals');
      await run.handle.executeUpdate('approve', { args: [{ callId: pending[0]?.callId, by: 'ann' }] });
    },
  }),
  'a spent limit that asks': () => ({
    options: () => ({
      model: ({ messages }) => (messages.length < 5 ? call(['look', { n: messages.length }]) : say('done')),
      tools: [look],
      policy: { onBudget: 'ask' },
    }),
    input: { maxTurns: 2 },
    enter: (run) => waiting(run, 'increase of the limit'),
    leave: (run) => run.handle.executeUpdate('extend', { args: [{ turns: 5 }] }),
  }),
  'a lost worker': () => {
    let calls = 0;
    return {
      options: () => ({
        model: ({ signal, messages }) => {
          calls += 1;
          if (calls === 2) return untilAborted(signal);
          return messages.length < 3 ? call(['look', { n: 1 }]) : say('done');
        },
        tools: [look],
        policy: {},
      }),
      enter: () => until(() => calls === 2, 'the second request'),
      leave: () => Promise.resolve(),
    };
  },
  'commands in front of a message': () => {
    const models = fakeModels({ 'a/one': (_, n) => (n === 1 ? call(['look', { n }]) : say('done')) });
    const wait = heldInModel('pause', {}, 'paused');
    return {
      ...wait,
      options: () => ({ ...wait.options(), providerFor: models.providerFor, route: [candidate('a/one'), candidate('b/two')] }),
      enter: async (run) => {
        await run.handle.signal('steer', { id: 'm', text: '/model nobody/x\n/think a\n'.repeat(8) });
        await run.handle.signal('pause', {});
        await until(async () => (await run.progress()).status === 'paused', 'the pause');
      },
      leave: (run) => run.handle.signal('resume'),
    };
  },
};

/** All waits where a release ends. A level between two releases adds to the one before it: one wait shows that both sides read each other. */
const waitsOf = ({ isLastOfRelease }: SavedBundle): string[] => (isLastOfRelease ? Object.keys(WAITS) : ['an approval']);

const UNNOTICED = { result: { reason: 'completed', output: 'done' }, failed: [] };

/** A lead that may delegate to a scout. The scout waits for `held`. */
function team(held: Promise<void>) {
  const config = castConfig({ lead: { subagents: ['scout'] }, scout: {} });
  const model = async ({ prompt, tools, messages }: ModelRequest): Promise<ModelAnswer> => {
    if (prompt.startsWith('scout')) return await held.then(() => say('found'));
    const delegates = messages.length === 1 && tools.some(({ name }) => name === 'delegate');
    return delegates ? call(['delegate', { agent: 'scout', task: 'look' }]) : say('done');
  };
  return { config, model };
}

describe('A3: a rolling deployment', () => {
  const { worker, start } = useWorkers();
  const bundles = useSavedBundles();

  it('the workflow code of every level up to the present one is kept', () => {
    const levels = bundles.map(({ level }) => level).toSorted((a, b) => a - b);
    expect(levels).toEqual(Array.from({ length: CAPABILITY_LEVEL }, (_, at) => at + 1));
  });

  /** Starts a run on one build, replaces it in the wait by another one, and returns how it ended. */
  async function replace(name: string, before: Partial<AgentWorkerOptions>, after: Partial<AgentWorkerOptions>): Promise<object> {
    const wait = WAITS[name]?.();
    if (!wait) throw new Error(`no wait ${name}`);
    const options = wait.options();
    const old = await worker({ ...options, ...before });
    const run = await start(old, wait.input);
    await wait.enter(run);
    await old.shutdown();
    const next = await worker({ ...options, ...after, taskQueue: old.taskQueue });
    const same = testRun(next.client.workflow.getHandle(run.runId));
    await wait.leave(same);
    return { result: await same.result(), failed: await failedTasks(next.client, run.runId) };
  }

  describe.each(bundles)('workflow code of $release', (bundle) => {
    const { path, level } = bundle;
    it.each(waitsOf(bundle))(
      'a run that it started and the present activities prepared goes on with the present code: %s',
      async (name) => {
        expect(await replace(name, { bundlePath: path }, {})).toMatchObject(UNNOTICED);
      },
    );

    it.each(waitsOf(bundle))('a run that the present code started and its activities prepared goes on with its code: %s', async (name) => {
      expect(await replace(name, { activitiesLevel: level }, { bundlePath: path })).toMatchObject(UNNOTICED);
    });

    it('a run of an agent with sub-agents, started by it, goes on with the present code, while a sub-agent works if it knows them', async () => {
      const held = latch();
      const { config, model } = team(held.opened);
      const old = await worker({ config, model, bundlePath: path });
      const run = await start(old, { agent: 'lead' });
      if (level >= DELEGATION_LEVEL) await until(() => old.requests.length === 2, 'the request of the sub-agent');
      else await run.result();
      expect(old.requests[0]?.tools.some(({ name }) => name === 'delegate')).toBe(level >= DELEGATION_LEVEL);
      const stopping = old.shutdown();
      held.open();
      await stopping;
      const next = await worker({ config, model, taskQueue: old.taskQueue });
      const same = testRun(next.client.workflow.getHandle(run.runId));
      expect({ result: await same.result(), failed: await failedTasks(next.client, run.runId) }).toMatchObject(UNNOTICED);
    });
  });
});
