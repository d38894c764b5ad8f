import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import { handBack } from '../../../src/worker/recovery/hand-back.js';
import { type AgentWorker, say } from '../../support/agent-worker.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { useSessions } from './support/sessions.js';

/** The identity of a worker that is taken for dead. */
const DOOMED = 'doomed';

describe('a session whose worker dies', { timeout: 90_000 }, () => {
  const { worker } = useWorkers();
  const { open } = useSessions();

  /** A worker that hangs in an activity, from the moment on when it is armed, until it was found dead there. */
  async function doomed(activity: string) {
    const found = latch();
    const state = { isArmed: false, hangs: 0 };
    const on = await worker({
      model: () => say('ok'),
      identity: DOOMED,
      authenticate: () => Promise.resolve(undefined),
      sign: () => Promise.resolve('v1.1.00'),
      beforeActivity: (name) => {
        if (name !== activity || !state.isArmed) return undefined;
        state.hangs += 1;
        return found.opened;
      },
    });
    /** What a supervisor does that finds the process of the worker dead. */
    const die = async (workflowId: string): Promise<void> => {
      await until(() => state.hangs > 0, `the start of ${activity}`);
      state.isArmed = false;
      const { runId } = await on.client.workflow.getHandle(workflowId).describe();
      const dead = new Map([[DOOMED, 'killed by SIGKILL']]);
      const handed = await handBack([{ workflowId, runId }], { client: on.client, dead, reset: 'affected' });
      expect(handed.map(({ type, failed }) => ({ type, failed }))).toEqual([{ type: activity, failed: true }]);
      found.open();
    };
    return { on, state, die };
  }

  it('while the session is prepared: it is prepared again, and its message is answered', async () => {
    const { on, state, die } = await doomed('prepareSession');
    state.isArmed = true;
    const session = await open(on);
    await session.send({ id: 'm1', text: 'one' });
    await die(`session/${session.key}`);
    expect(await session.wait('m1')).toMatchObject({ outcome: 'answered' });
  });

  it('while signatures are checked: they are checked again, and no message is lost', async () => {
    const { on, state, die } = await doomed('checkMessages');
    // with a workspace, its messages need a signature
    const session = await open(on, { defaults: { context: { workspace: tmpdir() } } });
    await session.send({ id: 'm1', text: 'one' });
    await session.wait('m1');
    state.isArmed = true;
    await session.send({ id: 'm2', text: 'two' });
    await die(`session/${session.key}`);
    expect(await session.wait('m2')).toMatchObject({ outcome: 'answered' });
    expect(lastRequest(on)).toEqual(['one', 'ok', 'two']);
  });

  it('while a run copies the conversation: it is copied again, and nothing of it is lost', async () => {
    const { on, state, die } = await doomed('copyConversation');
    const session = await open(on);
    const texts = Array.from({ length: 20 }, (_, n) => `m${n + 1}`);
    for (const text of texts) {
      await session.send({ id: text, text });
      await session.wait(text);
    }
    state.isArmed = true;
    await session.send({ id: 'm21', text: 'm21' });
    await die(`${session.key}/21`);
    await session.wait('m21');
    expect(lastRequest(on)).toEqual([...texts.flatMap((text) => [text, 'ok']), 'm21']);
  });
});

/** The texts of the newest request to the model. */
function lastRequest({ requests }: AgentWorker): string[] {
  return (requests.at(-1)?.messages ?? []).map(textOf);
}
