import type { RunHooksInput, RunHooksResult } from '../../contracts/activities.js';
import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import { showDecision } from '../operator/wait.js';
import type { Run } from '../state/run.js';
import type { Ending } from '../state/run-result.js';
import { readActivityProblem } from '../temporal/failures.js';
import { runHooks } from '../temporal/proxies.js';

type End = Extract<Ending, { kind: 'end' }>;

/** Asks the hooks before the run; returns how it ends when one of them does not let it begin. */
export async function beforeRun(run: Run): Promise<End | undefined> {
  if (!run.policy.hooks.beforeRun) return undefined;
  const said = await ask(run, { on: 'before-run' });
  run.clock.start();
  // the loop ends a run that was cancelled meanwhile
  return run.inbox.cancelRequest || said.action === 'allow' || said.action === 'modify' ? undefined : refusedBy(run, said);
}

/**
 * Asks the hooks after the run; they may rewrite the output, or refuse it; a rewritten output is the only one. A run that was cancelled is
 * not asked about, and nobody reads what its hooks did not see.
 */
export async function afterRun(
  run: Run,
  given: { readonly output: string; readonly ending: End },
): Promise<{ output: string; ending: End }> {
  if (!run.policy.hooks.afterRun) return given;
  const { structured: _, ...ending } = given.ending;
  if (run.inbox.cancelRequest) return { output: '', ending };
  const said = await ask(run, { on: 'after-run', output: given.output });
  if (said.action === 'allow') return given;
  if (said.action === 'modify') return { output: said.output, ending };
  return { output: '', ending: run.inbox.cancelRequest ? ending : refusedBy(run, said) };
}

/** Shows the error to its hooks; they may rewrite the message that the caller reads. The type stays. */
export async function onError(run: Run, ending: End): Promise<End> {
  if (!run.policy.hooks.error || !ending.error) return ending;
  const { type, message, turn } = ending.error;
  const said = await ask(run, { on: 'error', error: { type, message } });
  return said.action === 'modify' ? { ...ending, error: { type, message: said.output, turn } } : ending;
}

/**
 * A hook that cannot be asked decides against: hooks fail closed. The run's clock stands still: they have time limits of their own, and
 * a deadline must not decide for them.
 */
async function ask(run: Run, about: Pick<RunHooksInput, 'on' | 'output' | 'error'>): Promise<RunHooksResult> {
  run.clock.stop();
  const input: RunHooksInput = { runId: run.runId, agent: run.prepared.setup.agent, turn: run.counters.turn, ...about };
  for (let losses = 0; ; losses += 1) {
    try {
      const said = await run.calls.abortable(() => runHooks(input, { summary: `hooks: ${about.on}` }));
      if (said.action !== 'allow') note(run, about.on, said);
      return said;
    } catch (error) {
      const problem = readActivityProblem(error);
      if (problem.workerLost && !run.mustStop && losses < RUN_LIMITS.workerLossesMax) continue;
      return { action: 'block', hook: about.on, reason: `it could not be asked: ${problem.message}` };
    }
  }
}

function note(run: Run, on: string, said: Exclude<RunHooksResult, { action: 'allow' }>): void {
  const reason = said.action === 'modify' ? '' : `${said.hook}: ${said.reason}`;
  run.events.add({ type: 'hook.decided', turn: run.counters.turn, on, action: said.action, reason });
  showDecision(run, `hook ${on}: ${said.action} ${reason}`.trim());
}

function refusedBy(run: Run, said: { readonly action: 'block' | 'abort'; readonly hook: string; readonly reason: string }): End {
  const type = said.action === 'abort' ? 'Hook.Aborted' : 'Hook.Blocked';
  return { kind: 'end', reason: 'error', error: { type, message: `${said.hook}: ${said.reason}`, turn: run.counters.turn } };
}
