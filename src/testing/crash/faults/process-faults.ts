import { setTimeout as delay } from 'node:timers/promises';
import { WORKER_LIMITS } from '../../../contracts/constants/limits.js';
import { type Fault, HEALED } from './fault.js';

/**
 * Duration of a fault that makes the server give the calls of a living worker to another one. The open polls of the worker still take tasks
 * for a while: each workflow task that it takes costs 10 s more, each activity another heartbeat timeout.
 */
export const LONG_FAULT_MS: readonly [number, number] = [
  WORKER_LIMITS.heartbeatTimeoutMs + 15_000,
  2 * WORKER_LIMITS.heartbeatTimeoutMs + 30_000,
];

/** `kill -9` of a worker process. Another process takes its place at once. */
export const killWorker: Fault = {
  weight: 12,
  forMs: [0, 0],
  async strike({ slot }) {
    const { worker } = slot;
    worker.signal('SIGKILL');
    await worker.ended;
    return HEALED;
  },
};

/** `kill -9` of the supervisor of a worker. */
export const killSupervisor: Fault = {
  weight: 0,
  forMs: [0, 0],
  whyNot: () => 'the harness starts its workers without a supervisor',
};

/** SIGSTOP of a worker process for less than its heartbeat timeout: nothing may be lost. */
export const stopWorker: Fault = { weight: 3, forMs: [200, 4_000], strike: stopFor };

/** SIGSTOP of a worker process for more than its heartbeat timeout, as a suspended machine does: two workers believe they own its calls. */
export const suspendWorker: Fault = { weight: 0.5, forMs: LONG_FAULT_MS, strike: stopFor };

async function stopFor({ slot, forMs }: Parameters<NonNullable<Fault['strike']>>[0]): ReturnType<NonNullable<Fault['strike']>> {
  const { worker } = slot;
  worker.signal('SIGSTOP');
  return async () => {
    await Promise.race([delay(forMs), worker.ended]);
    worker.signal('SIGCONT');
  };
}

/** `kill -9` of the Temporal server. It starts again on the same database and port. */
export const killServer: Fault = {
  weight: 2,
  forMs: [100, 5_000],
  async strike({ arena, forMs }) {
    await arena.server.kill();
    return () => arena.server.restart(forMs);
  },
};
