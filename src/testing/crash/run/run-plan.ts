import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunHandle } from '../../../client/run-handle.js';
import type { StartInput } from '../../../client/runs/start-run.js';
import type { RunResult } from '../../../contracts/schemas/run.js';
import type { Arena } from '../arena/arena.js';
import { checkRun } from '../checks/checks.js';
import type { Evidence, Finding } from '../checks/evidence.js';
import { readEffects } from '../child/effect-log.js';
import type { CrashPlan } from '../plan/plan.js';
import { countUnknownOutcomes, Inquiry, readExecutions, readTranscript } from './collect-evidence.js';
import { Conductor, type Hit } from './conductor.js';
import { MessageSender } from './message-sender.js';

/** What every run of a harness has in common. */
export interface Job {
  /** Input of the runs, without what a plan sets. */
  readonly input: StartInput;
  readonly endsWithinMs: number;
  readonly reasons: readonly string[];
  readonly countEffects?: (idempotencyKey: string) => number | Promise<number>;
}

/** One run under its plan. */
export interface PlanOutcome {
  readonly plan: CrashPlan;
  readonly runId: string;
  readonly findings: readonly Finding[];
  readonly hits: readonly Hit[];
  /** Names of the boundaries that the run passed, in order. */
  readonly passed: readonly string[];
  readonly executions: number;
  readonly unknownOutcomes: number;
  /** Number of worker processes that worked for the run. */
  readonly processes: number;
}

const POLL_MS = 200;
const IDLE_MS_MAX = 60_000;

/** Starts one run, makes the faults of its plan, waits until they are healed and the run has ended, and checks its evidence. */
export async function runPlan(arena: Arena, plan: CrashPlan, job: Job): Promise<PlanOutcome> {
  const runId = `crash-${plan.seed}-${randomUUID().slice(0, 8)}`;
  await arena.whenReady();
  const run = arena.agents.get(runId);
  const sender = new MessageSender(run);
  const conductor = new Conductor({ arena, runId, plan, onMessage: (message) => sender.send(message) });
  arena.onBoundary = (worker, boundary) => conductor.atBoundary(worker, boundary);
  const bounds = plan.continueAsNewEvents === undefined ? {} : { bounds: { continueAsNewEvents: plan.continueAsNewEvents } };
  const { executionId } = await arena.agents.start({ ...job.input, ...bounds, id: runId });
  const result = await awaitEnd(run, conductor, job.endsWithinMs);
  await conductor.finish();
  await arena.whenReady();
  // a call that another worker has taken over may still be at work: its effect counts
  await arena.whenIdle(runId, IDLE_MS_MAX);
  const inquiry = new Inquiry();
  const evidence = await collect({ arena, run, executionId, inquiry, job, sender }, result);
  const unknownOutcomes = await inquiry.ask('events', () => countUnknownOutcomes(run), 0);
  if (!result) await arena.temporal.workflow.getHandle(runId).terminate('it did not end in time');
  const { hits, passed, pids, problems } = conductor;
  const unanswered = [...inquiry.unanswered, ...problems];
  return {
    plan,
    runId,
    findings: checkRun({ ...evidence, unanswered }),
    hits,
    passed,
    executions: evidence.executions.length,
    unknownOutcomes,
    processes: pids.size,
  };
}

/** Waits for the end of a run, at most `endsWithinMs` after the last change by a fault. */
async function awaitEnd(run: RunHandle, conductor: Conductor, endsWithinMs: number): Promise<RunResult | undefined> {
  const waiting = new AbortController();
  const ended = run.result({ signal: waiting.signal }).then(
    (result) => ({ result }),
    (error: unknown) => {
      if (!waiting.signal.aborted) throw error;
      return {};
    },
  );
  for (;;) {
    const end = await Promise.race([ended, delay(POLL_MS)]);
    if (end) return 'result' in end ? end.result : undefined;
    if (!conductor.isStriking && Date.now() - conductor.changedAt > endsWithinMs) waiting.abort();
  }
}

interface Sources {
  readonly arena: Arena;
  readonly run: RunHandle;
  readonly executionId: string;
  readonly inquiry: Inquiry;
  readonly job: Job;
  readonly sender: MessageSender;
}

async function collect(
  { arena, run, executionId, inquiry, job, sender }: Sources,
  result: RunResult | undefined,
): Promise<Omit<Evidence, 'unanswered'>> {
  const { runId } = run;
  const effects = await readEffects(arena.effectLog, runId);
  const counted = await countEffects(
    effects.flatMap(({ effect, key }) => (effect === 'read' ? [] : [key])),
    job,
  );
  return {
    runId,
    ...(result ? { result, plainResult: await readPlainResult(arena, runId) } : {}),
    endsWithinMs: job.endsWithinMs,
    reasons: job.reasons,
    transcript: await inquiry.ask('transcript', () => readTranscript(run), []),
    steers: await inquiry.ask('steers', () => run.steers(), []),
    sent: await sender.sent(),
    effects,
    executions: await inquiry.ask('history', () => readExecutions(arena.temporal, runId, executionId), []),
    tools: arena.slots[0]?.worker.tools ?? [],
    ...(counted ? { counted } : {}),
    surprises: arena.surprises.splice(0),
  };
}

async function readPlainResult(arena: Arena, runId: string): Promise<NonNullable<Evidence['plainResult']>> {
  try {
    const value: { readonly reason: string } = await arena.temporal.workflow.getHandle(runId).result();
    return { reason: value.reason };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

async function countEffects(keys: readonly string[], { countEffects: count }: Job): Promise<ReadonlyMap<string, number> | undefined> {
  if (!count) return undefined;
  const counts = await Promise.all([...new Set(keys)].map(async (key) => [key, await count(key)] as const));
  return new Map(counts);
}
