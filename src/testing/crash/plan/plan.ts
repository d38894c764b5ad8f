import type { FaultName } from '../faults/fault.js';
import { FAULTS } from '../faults/faults.js';
import { Random } from './random.js';

/** One fault of a plan: at the n-th boundary of the run (from 1), or some time after it. */
export interface PlannedFault {
  readonly fault: FaultName;
  readonly boundary: number;
  readonly afterMs: number;
  readonly forMs: number;
}

/** One message of a plan, sent at the n-th boundary of the run. */
export interface PlannedMessage {
  readonly boundary: number;
  /** A signal is acknowledged by the server, an update by the run. */
  readonly by: 'signal' | 'update';
}

/** The faults and messages of one run. */
export interface CrashPlan {
  readonly seed: number;
  readonly faults: readonly PlannedFault[];
  readonly messages: readonly PlannedMessage[];
  /** Events after which the run continues as new. Absent: the default. */
  readonly continueAsNewEvents?: number;
}

/** The moment of a fault: a boundary, from 1, and the time after it. */
export type Moment = Pick<PlannedFault, 'boundary' | 'afterMs'>;

/** The conditions of a plan. */
export interface PlanConditions {
  /** Names of the boundaries that the run passes without faults, in order. */
  readonly boundaries: readonly string[];
  /** The faults that can be made. */
  readonly faults: readonly FaultName[];
  /** Most messages of a run. */
  readonly messagesMax: number;
}

const FURTHER_FAULTS_MAX = 3;
const AFTER_MS_MAX = 150;
const AFTER = ': after';
/** The SDK reports a result within a few milliseconds after the activity returned. */
const REPORTED_AFTER_MS = 40;
const KILL_SHARE = 0.7;
const CONTINUE_AS_NEW_EVENTS: readonly [number, number] = [20, 60];
/** Faults of a plan that last longer than a heartbeat timeout. */
const LONG_FAULTS_MAX = 1;
const LONG_FAULT_MS_MIN = 20_000;

/** All moments that the first faults of consecutive seeds strike at: each boundary, and the time after each report of a result. */
export function momentsOf(boundaries: readonly string[]): readonly Moment[] {
  return boundaries.flatMap((name, index) => {
    const moment = { boundary: index + 1, afterMs: 0 };
    return name.endsWith(AFTER) ? [moment, { ...moment, afterMs: REPORTED_AFTER_MS }] : [moment];
  });
}

/** Name of a moment, such as `callTool charge: after`. */
export function momentName(boundaries: readonly string[], { boundary, afterMs }: Moment): string {
  const name = boundaries[boundary - 1] ?? '';
  return afterMs === REPORTED_AFTER_MS && name.endsWith(AFTER) ? name.replace(AFTER, ': reported') : name;
}

/**
 * Makes the plan of a seed. The first faults of consecutive seeds strike at consecutive moments, so that as many runs as there are moments
 * strike at each. Further faults strike at random boundaries, or up to 150 ms after them.
 */
export function makePlan(seed: number, conditions: PlanConditions): CrashPlan {
  const random = new Random(seed);
  const { boundaries, messagesMax } = conditions;
  const anywhere = (): number => random.integer(1, boundaries.length);
  const moments = momentsOf(boundaries);
  const first = moments[seed % moments.length];
  const faults = first ? [plannedFault(random, first, firstFault(random, conditions.faults))] : [];
  const further = random.integer(0, FURTHER_FAULTS_MAX);
  for (let index = 0; index < further; index += 1) {
    const afterMs = random.next() < 0.5 ? 0 : random.integer(1, AFTER_MS_MAX);
    faults.push(plannedFault(random, { boundary: anywhere(), afterMs }, anyFault(random, conditions.faults)));
  }
  const messages = Array.from({ length: random.integer(0, messagesMax) }, () => ({
    boundary: anywhere(),
    by: random.next() < 0.5 ? ('signal' as const) : ('update' as const),
  }));
  const continuesEarly = conditions.faults.includes('early-continue-as-new') && random.next() < 0.5;
  const plan = { seed, faults: withFewLong(faults.filter((fault) => fault !== undefined)), messages };
  return continuesEarly ? { ...plan, continueAsNewEvents: random.integer(...CONTINUE_AS_NEW_EVENTS) } : plan;
}

/** The plan in one line. */
export function describePlan({ faults, messages, continueAsNewEvents }: CrashPlan, boundaries: readonly string[] = []): string {
  const at = (boundary: number): string => `${boundary}${boundaries[boundary - 1] === undefined ? '' : ` (${boundaries[boundary - 1]})`}`;
  return [
    ...faults.map(({ fault, boundary, afterMs, forMs }) => {
      const lasting = forMs > 0 ? ` for ${forMs} ms` : '';
      return `${fault}${lasting} at boundary ${at(boundary)}${afterMs > 0 ? ` + ${afterMs} ms` : ''}`;
    }),
    ...messages.map(({ boundary, by }) => `message by ${by} at boundary ${at(boundary)}`),
    ...(continueAsNewEvents === undefined ? [] : [`continue-as-new after ${continueAsNewEvents} events`]),
  ].join('; ');
}

function plannedFault(random: Random, moment: Moment, fault: FaultName | undefined): PlannedFault | undefined {
  return fault && { fault, ...moment, forMs: random.integer(...FAULTS[fault].forMs) };
}

function firstFault(random: Random, faults: readonly FaultName[]): FaultName | undefined {
  return faults.includes('kill-worker') && random.next() < KILL_SHARE ? 'kill-worker' : anyFault(random, faults);
}

function anyFault(random: Random, faults: readonly FaultName[]): FaultName | undefined {
  return random.choose(faults.map((name) => [name, FAULTS[name].strike ? FAULTS[name].weight : 0] as const));
}

/** Without the second and later long faults: a run would take minutes. */
function withFewLong(faults: readonly PlannedFault[]): readonly PlannedFault[] {
  const isLong = ({ forMs }: PlannedFault): boolean => forMs >= LONG_FAULT_MS_MIN;
  const long = new Set(faults.filter(isLong).slice(LONG_FAULTS_MAX));
  return faults.filter((fault) => !long.has(fault));
}
