import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { builtModule } from '../../worker/dev-server/launch.js';
import { Arena, type Leftovers } from './arena/arena.js';
import type { FaultName } from './faults/fault.js';
import { type Possible, possibleFaults } from './faults/faults.js';
import type { CrashSettings } from './options.js';
import { makePlan } from './plan/plan.js';
import { type Job, type PlanOutcome, runPlan } from './run/run-plan.js';

/** One lane: runs one after the other, on a server and workers of its own. */
export interface Lane extends Possible {
  /** Names of the boundaries that a run without faults passes, in order. */
  readonly boundaries: readonly string[];
  /** Runs the plan of a seed. */
  run(seed: number, conditions: { readonly boundaries: readonly string[]; readonly faults: readonly FaultName[] }): Promise<PlanOutcome>;
  /** Ends server and workers, and returns what is left. */
  close(): Promise<Leftovers>;
}

/** What all lanes share. */
export interface LaneOptions {
  readonly settings: CrashSettings;
  readonly scriptFile: string;
  readonly bundles: readonly string[];
}

const DISK_FAULTS: readonly FaultName[] = ['full-disk', 'read-only-disk'];

/** Opens a lane, and rehearses: one run without faults. Throws if that run breaks a promise, because then the agent or its script is wrong. */
export async function openLane(options: LaneOptions): Promise<Lane> {
  const { settings } = options;
  const job = jobOf(options);
  const left: string[] = [];
  let arena: Arena | undefined = await openArena(options);
  const closeArena = async (): Promise<void> => {
    const closing = arena;
    arena = undefined;
    if (closing) left.push(...(await closing.close()));
  };
  const possible = possibleFaults(settings.faults, { arena, builds: options.bundles.length });
  try {
    const rehearsal = await runPlan(arena, { seed: settings.seed, faults: [], messages: [] }, job);
    const [problem] = rehearsal.findings;
    if (problem) throw new Error(`the run fails without any fault: ${problem.check}: ${problem.message}`);
    return {
      ...possible,
      boundaries: rehearsal.passed,
      async run(seed, conditions) {
        arena ??= await openArena(options);
        const outcome = await runPlan(arena, makePlan(seed, { ...conditions, messagesMax: settings.messages }), job);
        if (outcome.findings.length > 0) {
          await save(arena, outcome, settings.saveTo);
          // a failed run may still be at work: the next one starts on new ground
          await closeArena();
        }
        return outcome;
      },
      async close() {
        await closeArena();
        return left;
      },
    };
  } catch (error) {
    await closeArena();
    throw error;
  }
}

/** Copies bundles to a folder, unpacked. */
export async function unpackBundles(bundles: readonly string[], folder: string): Promise<string[]> {
  return await Promise.all(
    bundles.map(async (bundle, index) => {
      const data = await readFile(resolve(bundle));
      const file = join(folder, `${index}-${basename(bundle, '.gz')}`);
      await writeFile(file, bundle.endsWith('.gz') ? gunzipSync(data) : data);
      return file;
    }),
  );
}

function openArena({ settings, bundles, scriptFile }: LaneOptions): Promise<Arena> {
  const { configFile, workers, env, say, faults } = settings;
  return Arena.open({
    configFile,
    model: modelOf(scriptFile),
    program: builtModule(import.meta.url, 'child/worker-main'),
    workers,
    bundles,
    env,
    mount: faults === undefined || DISK_FAULTS.some((name) => faults.includes(name)),
    say,
  });
}

function jobOf({ settings, scriptFile }: LaneOptions): Job {
  const { agent, input, endsWithinMs, reasons, countEffects } = settings;
  return {
    input: { task: 'Do your work.', ...input, model: modelOf(scriptFile), ...(agent === undefined ? {} : { agent }) },
    endsWithinMs,
    reasons,
    ...(countEffects ? { countEffects } : {}),
  };
}

const modelOf = (scriptFile: string): string => `scripted/${scriptFile}`;

/** Saves what tells of a failed run. */
async function save(arena: Arena, outcome: PlanOutcome, saveTo: string | undefined): Promise<void> {
  if (saveTo === undefined) return;
  const folder = join(saveTo, outcome.runId);
  await mkdir(folder, { recursive: true });
  const { events } = await arena.temporal.workflow.getHandle(outcome.runId).fetchHistory();
  await writeFile(join(folder, 'outcome.json'), JSON.stringify(outcome, undefined, 2));
  await writeFile(join(folder, 'history.json'), JSON.stringify({ events }, undefined, 2));
  await writeFile(join(folder, 'effects.jsonl'), await readFile(arena.effectLog));
  await writeFile(join(folder, 'workers.log'), await arena.workerLog());
}
