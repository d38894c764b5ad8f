import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, Healing, Strike } from './fault.js';
import { LONG_FAULT_MS } from './process-faults.js';

/** The worker is cut from the server for less than its heartbeat timeout. */
export const partition: Fault = { weight: 2, forMs: [500, 8_000], strike: cutFor };

/** The worker takes this part of a long partition for the rest of its call. */
const LATE_MS = 4_000;

/**
 * The worker is cut from the server for more than its heartbeat timeout. A call at the boundary waits there until the last seconds, as a
 * slow one does: it takes effect after another worker has decided about it, while its own worker cannot know.
 */
export const longPartition: Fault = {
  weight: 0.5,
  forMs: LONG_FAULT_MS,
  async strike({ slot: { proxy }, forMs }) {
    proxy.cut('silent');
    await delay(forMs - LATE_MS);
    return async () => {
      await delay(LATE_MS);
      proxy.heal();
    };
  },
};

const SLOW_BY_MS = 150;

/** Data between the worker and the server takes 150 ms longer in each direction. */
export const slowNetwork: Fault = {
  weight: 1,
  forMs: [500, 4_000],
  strike: ({ slot: { proxy }, forMs }) => {
    proxy.slowDown(SLOW_BY_MS);
    return Promise.resolve(async () => {
      await delay(forMs);
      proxy.heal();
    });
  },
};

function cutFor({ slot: { proxy }, forMs }: Strike): Promise<Healing> {
  // most partitions are silent; a fault of even length refuses instead
  proxy.cut(forMs % 4 === 0 ? 'refusing' : 'silent');
  return Promise.resolve(async () => {
    await delay(forMs);
    proxy.heal();
  });
}
