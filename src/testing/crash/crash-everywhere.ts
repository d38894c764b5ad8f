import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ScriptInput } from '../../providers/scripted/script.js';
import { type CrashAgent, type CrashOptions, type CrashSettings, crashSettings } from './options.js';
import { momentName, momentsOf } from './plan/plan.js';
import { CrashError, type CrashReport, emptyReport, openingOf, progressOf, summaryOf, withRun } from './report.js';

/** Time between two lines about the progress. */
const PROGRESS_MS = 60_000;

/**
 * Runs a scripted agent many times, each time under a plan of faults, with real processes: a Temporal server, worker processes with your
 * config, and a proxy between them. Faults strike at every boundary of an activity and at random moments. After the faults of a run are
 * healed, its promises are checked: `once` tools took effect at most once, no acknowledged message is lost, the transcript is paired, the
 * run has one final answer, and nothing is left behind.
 *
 * Returns a report. Throws a CrashError that lists the broken promises, each with the seed that repeats its plan; also when no run was
 * struck by a fault. Real time still varies between two runs of one plan. Throws PerdureError `BAD_OPTION`, `BAD_SCRIPT` (2), or an
 * error of the server's start.
 */
export async function crashEverywhere(agent: CrashAgent, script: string | ScriptInput, options: CrashOptions = {}): Promise<CrashReport> {
  const settings = await crashSettings(agent, script, options);
  const folder = await mkdtemp(join(tmpdir(), 'perdure-crash-plans-'));
  try {
    return await crash(settings, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function crash(settings: CrashSettings, folder: string): Promise<CrashReport> {
  const startedAt = Date.now();
  const scriptFile = join(folder, 'script.json');
  await writeFile(scriptFile, JSON.stringify(settings.script));
  // loaded here, because scripts and wire servers need no Temporal client
  const { openLane, unpackBundles } = await import('./lane.js');
  const bundles = await unpackBundles(settings.bundles, folder);
  const lanes = { settings, scriptFile, bundles };
  const lane = await openLane(lanes);
  const { boundaries, leftOut, faults } = lane;
  const moments = new Set(momentsOf(boundaries).map((moment) => momentName(boundaries, moment)));
  let report = emptyReport({ seed: settings.seed, ...(await commitHere()), leftOut, boundaries: moments.size });
  settings.say(openingOf(report));
  const struck = new Set<string>();
  const left: string[] = [];
  let next = 0;
  let saidAt = startedAt;
  const work = async (own: typeof lane): Promise<void> => {
    try {
      while (next < settings.runs && Date.now() - startedAt < settings.forMs) {
        const seed = settings.seed + next;
        next += 1;
        const outcome = await own.run(seed, { boundaries, faults });
        for (const { boundary } of outcome.hits) if (moments.has(boundary)) struck.add(boundary);
        const before = report.failures.length;
        report = withRun(report, outcome, boundaries);
        report = { ...report, boundaries: { all: moments.size, struck: struck.size }, ms: Date.now() - startedAt };
        for (const { line } of report.failures.slice(before)) settings.say(line);
        settings.onReport(report);
        if (Date.now() - saidAt >= PROGRESS_MS) {
          saidAt = Date.now();
          settings.say(progressOf(report));
        }
      }
    } finally {
      left.push(...(await own.close()));
    }
  };
  const others = Array.from({ length: Math.min(settings.parallel, settings.runs) - 1 }, async () => work(await openLane(lanes)));
  await Promise.all([work(lane), ...others]);
  return judged(report, left, settings.say);
}

/** Returns a report of kept promises. Throws for any other. */
function judged(report: CrashReport, left: readonly string[], say: (line: string) => void): CrashReport {
  const idle = report.missed === report.runs ? ['no run was struck by a fault, so nothing was tested'] : [];
  const problems = [...report.failures.map(({ line }) => line), ...left.map((line) => `nothing-left: ${line}`), ...idle];
  if (problems.length > 0) throw new CrashError(report, problems);
  say(summaryOf(report));
  return report;
}

/** The commit of the current folder, for the report. */
async function commitHere(): Promise<{ readonly commit?: string }> {
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', '--short', 'HEAD']);
    return { commit: stdout.trim() };
  } catch {
    // no repository, or no git
    return {};
  }
}
