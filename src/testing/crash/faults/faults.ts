import { fullDisk, readOnlyDisk, slowDisk } from './disk-faults.js';
import { FAULT_NAMES, type Fault, type FaultConditions, type FaultName } from './fault.js';
import { longPartition, partition, slowNetwork } from './network-faults.js';
import { killServer, killSupervisor, killWorker, stopWorker, suspendWorker } from './process-faults.js';
import { clockJump, earlyContinueAsNew, mixedBuilds } from './settings.js';

/** All faults by name. */
export const FAULTS: Readonly<Record<FaultName, Fault>> = {
  'kill-worker': killWorker,
  'kill-supervisor': killSupervisor,
  'kill-server': killServer,
  'stop-worker': stopWorker,
  'suspend-worker': suspendWorker,
  partition,
  'long-partition': longPartition,
  'slow-network': slowNetwork,
  'slow-disk': slowDisk,
  'full-disk': fullDisk,
  'read-only-disk': readOnlyDisk,
  'clock-jump': clockJump,
  'mixed-builds': mixedBuilds,
  'early-continue-as-new': earlyContinueAsNew,
};

/** The faults that can be made, and why each other one of `wanted` cannot. */
export interface Possible {
  readonly faults: readonly FaultName[];
  readonly leftOut: Readonly<Partial<Record<FaultName, string>>>;
}

/** Sorts the wanted faults into those that can be made here and those that cannot. Without a wish, all are wanted. */
export function possibleFaults(wanted: readonly FaultName[] | undefined, conditions: FaultConditions): Possible {
  const names = wanted ?? FAULT_NAMES;
  const reasons = names.map((name) => [name, FAULTS[name].whyNot?.(conditions)] as const);
  return {
    faults: reasons.flatMap(([name, reason]) => (reason === undefined ? [name] : [])),
    leftOut: Object.fromEntries(reasons.flatMap(([name, reason]) => (reason === undefined ? [] : [[name, reason]]))),
  };
}
