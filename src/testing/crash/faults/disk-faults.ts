import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.js';

const SLOW_BY_MS = 300;

/** Each file call of the worker process below its state folder takes 300 ms longer. Made inside the process. */
export const slowDisk: Fault = {
  weight: 1,
  forMs: [500, 4_000],
  strike: ({ slot: { worker }, forMs }) => {
    worker.tell({ kind: 'slow-disk', delayMs: SLOW_BY_MS });
    return Promise.resolve(async () => {
      await delay(forMs);
      worker.tell({ kind: 'slow-disk', delayMs: 0 });
    });
  },
};

/** The disk of the state folder has no space left. */
export const fullDisk: Fault = {
  weight: 1,
  forMs: [500, 4_000],
  whyNot: ({ arena }) => arena.disk.whyNotFull,
  async strike({ arena: { disk }, forMs }) {
    await disk.fill();
    return async () => {
      await delay(forMs);
      await disk.free();
    };
  },
};

/** The disk of the state folder is read-only. */
export const readOnlyDisk: Fault = {
  weight: 1,
  forMs: [500, 4_000],
  whyNot: ({ arena }) => arena.disk.whyNotReadOnly,
  async strike({ arena: { disk }, forMs }) {
    if (!(await disk.makeReadOnly())) return undefined;
    return async () => {
      await delay(forMs);
      await disk.makeWritable();
    };
  },
};
