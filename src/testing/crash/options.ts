import { resolve } from 'node:path';
import type { StartInput } from '../../client/runs/start-run.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Reason } from '../../contracts/schemas/run.js';
import type { Script, ScriptInput } from '../../providers/scripted/script.js';
import { checkScript, readScript } from '../../providers/scripted/script-file.js';
import { FAULT_NAMES, type FaultName } from './faults/fault.js';
import type { CrashReport } from './report.js';

/** The agent that is crashed: a config file, and the name of an agent in it. */
export interface CrashAgent {
  /** Path of `perdure.config.ts` (or `.mjs`, `.js`, `.json`), from the current folder. Each worker process loads it. */
  readonly config: string;
  /** @default the agent `default` of the config, else the built-in one */
  readonly agent?: string;
}

/** Options of `crashEverywhere`. */
export interface CrashOptions {
  /** Seed of the first run: an integer from 0. The next runs have the next seeds. @default random */
  readonly seed?: number;
  /** Number of runs. @default 20, or as many as fit into `forMs` */
  readonly runs?: number;
  /** Starts runs for this time, in milliseconds. The last runs end after it. */
  readonly forMs?: number;
  /** Runs at the same time, each with its own server and workers: 1 to 8. @default 1 */
  readonly parallel?: number;
  /** The faults to make. @default all that can be made here */
  readonly faults?: readonly FaultName[];
  /** Worker processes for each run at the same time: 1 to 4. With one, no other worker can take over a call. @default 2 */
  readonly workers?: number;
  /** Most messages that are sent to a run while faults strike. @default 3, or 0 for a script that uses the last user message */
  readonly messages?: number;
  /** Input of the runs, such as `task`, `maxTurns` or `context`. @default task "Do your work." */
  readonly input?: Partial<Omit<StartInput, 'id' | 'model' | 'agent' | 'bounds'>>;
  /** Reasons of a run's end that are right for this agent. @default `completed` */
  readonly reasons?: readonly Reason[];
  /**
   * Time in which a run must end after its last fault was healed, in milliseconds. A run may wait for a lost call as long as its tool's
   * time limit, so give tools with `reconcile` short ones. @default 2 minutes
   */
  readonly endsWithinMs?: number;
  /** Counts the effects of one idempotency key where they are made, such as in your test database. More than 1 is a failure. */
  readonly countEffects?: (idempotencyKey: string) => number | Promise<number>;
  /** Files with the workflow code of several builds, also gzipped (`.gz`). Workers take them in turn. @default this build alone */
  readonly bundles?: readonly string[];
  /** Folder for what failed runs leave: history, worker log and plan. @default nothing is kept */
  readonly saveTo?: string;
  /** Environment of the worker processes. @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /** Called after each run with the report so far. */
  readonly onReport?: (report: CrashReport) => void;
  /** Receives the seed, the counts each minute, one line for each failure, and the counts at the end. @default console.log */
  readonly say?: (line: string) => void;
}

/** Options with their defaults, checked. */
export interface CrashSettings extends Required<Omit<CrashOptions, 'seed' | 'runs' | 'forMs' | 'faults' | 'countEffects' | 'saveTo'>> {
  readonly configFile: string;
  readonly agent: string | undefined;
  readonly script: Script;
  readonly seed: number;
  readonly runs: number;
  readonly forMs: number;
  readonly faults: readonly FaultName[] | undefined;
  readonly countEffects: CrashOptions['countEffects'];
  readonly saveTo: string | undefined;
}

const SEED_MAX = 2 ** 31;
const RUNS_DEFAULT = 20;
const PARALLEL_MAX = 8;
const WORKERS_DEFAULT = 2;
const WORKERS_MAX = 4;
const MESSAGES_DEFAULT = 3;
const MESSAGES_MAX = 20;
/** The heartbeat timeout of a lost worker, twice its sticky queue, the question to its host, and a retry. */
const ENDS_WITHIN_MS = 120_000;
/** Longer than the boundary inside a model call needs. */
const ANSWER_MS_MIN = 100;

/** Checks the options and completes them. Throws PerdureError `BAD_OPTION` or `BAD_SCRIPT` (2). */
export async function crashSettings(agent: CrashAgent, script: string | ScriptInput, options: CrashOptions): Promise<CrashSettings> {
  const given = typeof script === 'string' ? await readScript(resolve(script)) : checkScript(script, 'script');
  const unknown = options.faults?.find((name) => !FAULT_NAMES.includes(name));
  if (unknown !== undefined) throw badOption('faults', `"${unknown}" is no fault; use ${FAULT_NAMES.join(', ')}`);
  const usesLastUser = JSON.stringify(given.steps).includes('lastUser');
  return {
    configFile: resolve(agent.config),
    agent: agent.agent,
    script: crashable(given),
    seed: integer('seed', options.seed ?? Math.floor(Math.random() * SEED_MAX), [0, SEED_MAX]),
    runs: integer('runs', options.runs ?? (options.forMs === undefined ? RUNS_DEFAULT : SEED_MAX), [1, SEED_MAX]),
    forMs: integer('forMs', options.forMs ?? SEED_MAX, [1, SEED_MAX]),
    parallel: integer('parallel', options.parallel ?? 1, [1, PARALLEL_MAX]),
    workers: integer('workers', options.workers ?? WORKERS_DEFAULT, [1, WORKERS_MAX]),
    messages: integer('messages', options.messages ?? (usesLastUser ? 0 : MESSAGES_DEFAULT), [0, MESSAGES_MAX]),
    endsWithinMs: integer('endsWithinMs', options.endsWithinMs ?? ENDS_WITHIN_MS, [1, SEED_MAX]),
    faults: options.faults,
    input: options.input ?? {},
    reasons: options.reasons ?? ['completed'],
    countEffects: options.countEffects,
    bundles: options.bundles ?? [],
    saveTo: options.saveTo,
    env: options.env ?? process.env,
    onReport: options.onReport ?? (() => undefined),
    say: options.say ?? ((line) => console.log(line)),
  };
}

/**
 * The script as it is played under faults. Expectations are dropped, because a tool with an unknown outcome has another result. Each answer
 * takes some time, so that a kill can strike inside it. The last answer is repeated for messages that arrive after it.
 */
function crashable(script: Script): Script {
  const steps = script.steps.map((step) => ({ ...step, expect: {}, delayMs: Math.max(step.delayMs, ANSWER_MS_MIN) }));
  const last = steps.at(-1);
  const isAnswer = last !== undefined && last.toolCalls.length === 0;
  if (script.loop || script.whenEnded || !isAnswer) return { ...script, steps };
  return { ...script, steps, whenEnded: last };
}

function integer(field: string, value: number, [min, max]: readonly [number, number]): number {
  if (!Number.isInteger(value) || value < min || value > max) throw badOption(field, `${value} is not an integer from ${min} to ${max}`);
  return value;
}

function badOption(field: string, problem: string): PerdureError {
  return new PerdureError('BAD_OPTION', `${field}: ${problem}`, 2);
}
