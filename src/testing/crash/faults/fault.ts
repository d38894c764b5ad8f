import type { Arena, WorkerSlot } from '../arena/arena.js';

/** The faults that `crashEverywhere` makes. */
export const FAULT_NAMES = [
  'kill-worker',
  'kill-supervisor',
  'kill-server',
  'stop-worker',
  'suspend-worker',
  'partition',
  'long-partition',
  'slow-network',
  'slow-disk',
  'full-disk',
  'read-only-disk',
  'clock-jump',
  'mixed-builds',
  'early-continue-as-new',
] as const;

/** Name of a fault. */
export type FaultName = (typeof FAULT_NAMES)[number];

/** Where a fault strikes, and for how long. */
export interface Strike {
  readonly arena: Arena;
  /** The worker that reached the boundary, with its proxy. */
  readonly slot: WorkerSlot;
  readonly forMs: number;
}

/** The conditions for a fault. */
export interface FaultConditions {
  readonly arena: Arena;
  /** Number of builds of the workflow code. */
  readonly builds: number;
}

/**
 * One kind of fault.
 *
 * Contract: `strike` resolves when the fault is made, with a function that waits until it is healed again; with undefined when it could
 * not be made at this moment. Both may run beside other faults. Without `strike`, the fault is a setting of the whole run.
 */
export interface Fault {
  /** How often plans choose it, relative to the others. */
  readonly weight: number;
  /** Shortest and longest duration in milliseconds. */
  readonly forMs: readonly [min: number, max: number];
  /** Why it cannot be made here, or undefined. */
  whyNot?(conditions: FaultConditions): string | undefined;
  strike?(strike: Strike): Promise<Healing | undefined>;
}

/** Waits until a fault is over. */
export type Healing = () => Promise<void>;

/** Nothing to wait for. */
export const HEALED: Healing = () => Promise.resolve();
