import { describe, expect, it } from 'vitest';
import { until } from '../../support/use-workers.js';
import type { PerdureFolder } from '../support/perdure-folder.js';
import { usePerdureFolders } from '../support/perdure-folder.js';
import { modelEnv, useModels } from '../support/use-models.js';

interface Shown {
  /** Null while no worker answers for the run. */
  readonly progress: { readonly status: string; readonly waitingFor?: string } | null;
}

/** Two turns: a call that counts, then the answer. */
const CALL_THEN_ANSWER = {
  steps: [{ toolCalls: [{ name: 'send_once', args: { name: 'a' } }] }, { text: 'The message was sent as you asked.' }],
};

describe('a run whose process is killed with SIGKILL while it waits', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('for an approval: it still waits for the same one, which then runs the call once', async () => {
    const wire = await model({ script: CALL_THEN_ANSWER });
    const here = await folder(modelEnv(wire));
    await killInWait(here, ['--agent', 'asking'], /approval of send once/u);
    const watching = here.start(['watch', 'r1', '--json']);
    const [approval] = (await waitingApprovals(here)) as { callId: string }[];
    await here.type(['approve', 'r1', approval?.callId ?? '', '--by', 'ann']);
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ reason: 'completed', turns: 2, toolCalls: 1 });
    expect((await here.effects()).map(({ what }) => what)).toEqual(['start', 'end']);
    expect(wire.requests).toHaveLength(2);
    expect(await here.run(['approve', 'r1', approval?.callId ?? ''])).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^[A-Z_]+: /mu),
    });
  });

  it('for more budget: it still asks, and goes on with what it is given', async () => {
    const wire = await model({ script: CALL_THEN_ANSWER });
    const here = await folder(modelEnv(wire));
    await killInWait(here, ['--agent', 'budgeted', '--max-turns', '1'], /increase of the limit of 1 turns/u);
    const watching = here.start(['watch', 'r1', '--json']);
    await waitingApprovals(here);
    await here.type(['extend', 'r1', '--turns', '3']);
    expect(JSON.parse((await watching.ended).stdout)).toMatchObject({ reason: 'completed', turns: 2, toolCalls: 1 });
    expect((await here.startsOf('send_once')).length).toBe(1);
  });

  it('for the end of a hold: it is held by the same one until it is released', async () => {
    const wire = await model({ script: CALL_THEN_ANSWER });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const killed = here.start(['run', 'send it', '--id', 'r1', '--model', 'openai/test']);
    await here.started('send_once');
    await here.type(['hold', 'r1', '--ttl', '10m', '--by', 'ann']);
    await here.release();
    await killed.prints('waiting: release');
    await killed.kill('SIGKILL');
    const watching = here.start(['watch', 'r1', '--json']);
    await until(async () => /held by ann/u.test((await shown(here)).progress?.waitingFor ?? ''), 'the hold', 30_000);
    await here.type(['release', 'r1']);
    expect(JSON.parse((await watching.ended).stdout)).toMatchObject({ reason: 'completed', turns: 2, toolCalls: 1 });
    expect((await here.startsOf('send_once')).length).toBe(1);
  });

  it('for a model that cannot be reached: it asks again when there is one', async () => {
    const wire = await model({
      script: { steps: [{ text: 'Back again, with the answer you wanted.', fault: { cutAfterBytes: 0, times: 3 } }] },
    });
    const here = await folder(modelEnv(wire));
    const killed = here.start(['run', 'say it', '--id', 'r1', '--model', 'openai/test']);
    await killed.prints('waiting: model, after');
    await killed.kill('SIGKILL');
    expect(await here.json(['watch', 'r1'])).toMatchObject({
      reason: 'completed',
      turns: 1,
      output: 'Back again, with the answer you wanted.',
    });
  });
});

async function shown(here: PerdureFolder): Promise<Shown> {
  // show's contract is tested elsewhere
  return (await here.json(['show', 'r1'])) as Shown;
}

/** What the folder's runs ask, once a worker is there to say so. */
async function waitingApprovals(here: PerdureFolder): Promise<unknown> {
  let waiting: unknown[] = [];
  await until(
    async () => {
      const { code, stdout } = await here.run(['approvals', 'r1', '--json']);
      // until the worker of the watching command is there, nobody can say
      if (code === 0) waiting = JSON.parse(stdout) as unknown[];
      return waiting.length > 0;
    },
    'an approval',
    30_000,
  );
  return waiting;
}

/** Starts a run, waits until it waits, and kills its process there. */
async function killInWait(here: PerdureFolder, args: readonly string[], waitingFor: RegExp): Promise<void> {
  const killed = here.start(['run', 'send it', '--id', 'r1', '--model', 'openai/test', ...args]);
  await killed.prints('waiting: ');
  await until(async () => waitingFor.test((await shown(here)).progress?.waitingFor ?? ''), `a wait for ${waitingFor.source}`, 30_000);
  await killed.kill('SIGKILL');
}
