import type { SessionHandle } from '../../../../src/client/session-handle.js';
import type { ModelAnswer, ModelRequest } from '../../../../src/providers/contract/provider.js';
import type { AgentWorker, AgentWorkerOptions } from '../../../support/agent-worker.js';
import { latch, until, untilAborted } from '../../../support/use-workers.js';
import type { useSessions } from './sessions.js';

/** What a session with rivals needs. */
export interface RivalsOptions {
  readonly worker: (options: AgentWorkerOptions) => Promise<AgentWorker>;
  readonly open: ReturnType<typeof useSessions>['open'];
  /** Answers the requests of all runs but the first. */
  readonly answer: (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>;
}

/** A session in which `m2`, `m3` and `m4` interrupt the run of `m1`, which takes its time to end. */
export async function openRivals({ worker, open, answer }: RivalsOptions): Promise<{ on: AgentWorker; session: SessionHandle }> {
  const stopped = latch();
  const on = await worker({
    identity: 'recorder',
    model: async (request, call) => {
      if (call > 1) return await answer(request);
      await untilAborted(request.signal).catch(() => undefined);
      await stopped.opened;
      throw request.signal.reason;
    },
  });
  const session = await open(on, { queue: { mode: 'interrupt' } });
  await session.send({ id: 'm1', text: 'one' });
  await until(() => on.requests.length === 1, 'the first run');
  for (const id of ['m2', 'm3', 'm4']) await session.send({ id, text: id });
  stopped.open();
  return { on, session };
}
