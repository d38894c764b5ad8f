import { WORKER_LIMITS } from '../../contracts/constants/limits.js';
import type { Finding } from './checks/evidence.js';
import type { FaultName } from './faults/fault.js';
import { type CrashPlan, describePlan } from './plan/plan.js';
import type { PlanOutcome } from './run/run-plan.js';

/** One broken promise. */
export interface CrashFailure {
  /** Repeat the plan with `{ seed, runs: 1 }`. */
  readonly seed: number;
  readonly runId: string;
  /** Name of the check, such as `once-at-most-once`. */
  readonly check: string;
  readonly message: string;
  readonly plan: CrashPlan;
  /** All of it in one line, with the seed and the plan. */
  readonly line: string;
}

/** Report of `crashEverywhere`. */
export interface CrashReport {
  /** Seed of the first run. */
  readonly seed: number;
  /** Commit of the current folder, if it is a git repository. */
  readonly commit?: string;
  /** Runs that were started. */
  readonly runs: number;
  /** Runs that were struck by a fault and kept all promises. */
  readonly passed: number;
  /** Runs that ended before any of their faults struck. They prove nothing. */
  readonly missed: number;
  /** Number of strikes by fault. */
  readonly faults: Readonly<Partial<Record<FaultName, number>>>;
  /** Why a wanted fault could not be made here. */
  readonly leftOut: Readonly<Partial<Record<FaultName, string>>>;
  /** SIGKILLs of workers and servers. */
  readonly kills: number;
  /** Effects that took place twice. */
  readonly doubled: number;
  /** Acknowledged messages and results that were lost. */
  readonly lost: number;
  /** Runs that did not end in time. */
  readonly hung: number;
  /** Kinds of boundaries of a run without faults, such as `callTool charge: after`, and how many of them were struck. */
  readonly boundaries: { readonly all: number; readonly struck: number };
  /** How often the rare cases came up. A zero says that a case was not tested. */
  readonly sometimes: Readonly<Record<Sometimes, number>>;
  readonly failures: readonly CrashFailure[];
  /** Duration in milliseconds. */
  readonly ms: number;
}

/**
 * Rare cases that a good test meets: a kill inside a tool, inside a model call, and before a result was reported; a call with an unknown
 * outcome; continue-as-new under faults; a run that several processes worked for; a fault longer than the heartbeat timeout.
 */
export type Sometimes =
  | 'killedInTool'
  | 'killedInModel'
  | 'killedBeforeReport'
  | 'unknownOutcome'
  | 'continuedAsNew'
  | 'tookOver'
  | 'longFault';

/** Thrown by `crashEverywhere` when a promise was broken, or nothing was tested. */
export class CrashError extends Error {
  override readonly name = 'CrashError';
  readonly report: CrashReport;

  constructor(report: CrashReport, problems: readonly string[]) {
    super([summaryOf(report), ...problems].join('\n'));
    this.report = report;
  }
}

/** The beginning of a report. */
export function emptyReport(facts: Pick<CrashReport, 'seed' | 'commit' | 'leftOut'> & { readonly boundaries: number }): CrashReport {
  const { boundaries, ...given } = facts;
  const sometimes = {
    killedInTool: 0,
    killedInModel: 0,
    killedBeforeReport: 0,
    unknownOutcome: 0,
    continuedAsNew: 0,
    tookOver: 0,
    longFault: 0,
  };
  const counts = { runs: 0, passed: 0, missed: 0, kills: 0, doubled: 0, lost: 0, hung: 0, ms: 0 };
  return { ...given, ...counts, faults: {}, boundaries: { all: boundaries, struck: 0 }, sometimes, failures: [] };
}

/** The report with one more run. `names` are the boundaries of a run without faults. */
export function withRun(report: CrashReport, outcome: PlanOutcome, names: readonly string[]): CrashReport {
  const { findings, hits, plan } = outcome;
  const wasStruck = hits.length > 0 || (plan.continueAsNewEvents !== undefined && outcome.executions > 1);
  const count = (kind: Finding['kind']): number => findings.filter((finding) => finding.kind === kind).length;
  const strikes = countBy(hits.map(({ planned }) => planned.fault));
  return {
    ...report,
    runs: report.runs + 1,
    passed: report.passed + (findings.length === 0 && wasStruck ? 1 : 0),
    missed: report.missed + (wasStruck ? 0 : 1),
    faults: sum(report.faults, outcome.executions > 1 ? { ...strikes, 'early-continue-as-new': 1 } : strikes),
    kills: report.kills + hits.filter(({ planned }) => planned.fault.startsWith('kill-')).length,
    doubled: report.doubled + count('doubled'),
    lost: report.lost + count('lost'),
    hung: report.hung + count('hung'),
    sometimes: sum(report.sometimes, sometimesOf(outcome)),
    failures: [...report.failures, ...findings.map((finding) => failureOf(finding, outcome, { report, names }))],
  };
}

/** The first line of a test: its seed, and the faults that it leaves out. */
export function openingOf({ seed, commit, leftOut }: CrashReport): string {
  const reasons = Object.entries(leftOut).map(([name, reason]) => `${name} (${reason})`);
  const without = reasons.length > 0 ? `, without ${reasons.join('; ')}` : '';
  return `crashEverywhere: seed ${seed}${commit === undefined ? '' : `, commit ${commit}`}${without}`;
}

/** The counts of a test that still works, in one line. */
export function progressOf(report: CrashReport): string {
  const { runs, passed, missed, kills, doubled, lost, hung, boundaries, ms } = report;
  const counts = { runs, passed, missed, kills, doubled, lost, hung };
  const facts = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return `${facts.join(', ')} in ${Math.round(ms / 1_000)} s; boundaries struck ${boundaries.struck} of ${boundaries.all}`;
}

/** The counts of a report, in a few lines. */
export function summaryOf(report: CrashReport): string {
  const { sometimes } = report;
  const cases = Object.entries(sometimes).map(([name, count]) => `${name} ${count}`);
  const faults = Object.entries(report.faults).map(([name, count]) => `${name} ${count}`);
  return [openingOf(report), progressOf(report), `faults: ${faults.join(', ') || 'none'}; cases: ${cases.join(', ')}`].join('\n');
}

function failureOf(
  { check, message }: Finding,
  { plan, runId }: PlanOutcome,
  { report, names }: { readonly report: CrashReport; readonly names: readonly string[] },
): CrashFailure {
  const commit = report.commit === undefined ? '' : `, commit ${report.commit}`;
  const line = `${check}: ${message} | replay with { seed: ${plan.seed}, runs: 1 }${commit} | ${describePlan(plan, names)}`;
  return { seed: plan.seed, runId, check, message, plan, line: line.replaceAll(/\s+/gu, ' ') };
}

function sometimesOf({ hits, unknownOutcomes, executions, processes }: PlanOutcome): Record<Sometimes, number> {
  const kills = hits.filter(({ planned }) => planned.fault === 'kill-worker');
  const during = (what: string): number => kills.filter((hit) => hit.during === what).length;
  return {
    killedInTool: during('tool'),
    killedInModel: during('model'),
    killedBeforeReport: during('report'),
    unknownOutcome: unknownOutcomes,
    continuedAsNew: hits.length > 0 && executions > 1 ? 1 : 0,
    tookOver: hits.length > 0 && processes > 1 ? 1 : 0,
    longFault: hits.filter(({ planned }) => planned.forMs > WORKER_LIMITS.heartbeatTimeoutMs).length,
  };
}

function countBy<K extends string>(names: readonly K[]): Partial<Record<K, number>> {
  const counts: Partial<Record<K, number>> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function sum<T extends Readonly<Partial<Record<string, number>>>>(counts: T, further: T): T {
  const names = new Set([...Object.keys(counts), ...Object.keys(further)]);
  // the same names as in the arguments
  return Object.fromEntries([...names].map((name) => [name, (counts[name] ?? 0) + (further[name] ?? 0)])) as unknown as T;
}
