import type { RunHooksInput, RunHooksResult } from '../../contracts/activities.js';
import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import { showDecision } from '../operator/wait.js';
import type { Run } from '../state/run.js';
import type { Ending } from '../state/run-result.js';
import { readActivityProblem } from '../temporal/failures.js';
import { runHooks } from '../temporal/proxies.js';

type End = Extract<Ending, { kind: 'end' }>;

/** Runs the hooks before the run. Returns the ending when one of them blocks or aborts it. */
export async function beforeRun(run: Run): Promise<End | undefined> {
  if (!run.policy.hooks.beforeRun) return undefined;
  const decision = await callHooks(run, { on: 'before-run' });
  run.clock.start();
  // the loop ends a run that was cancelled meanwhile
  return run.inbox.cancelRequest || decision.action === 'allow' || decision.action === 'modify' ? undefined : refusedBy(run, decision);
}

/**
 * Runs the hooks after the run. They may rewrite or refuse the output; a rewritten output has no structured value. The hooks do not run
 * for a cancelled run, whose output is then empty: unchecked output is never returned.
 */
export async function afterRun(
  run: Run,
  given: { readonly output: string; readonly ending: End },
): Promise<{ output: string; ending: End }> {
  if (!run.policy.hooks.afterRun) return given;
  const { structured: _, ...ending } = given.ending;
  if (run.inbox.cancelRequest) return { output: '', ending };
  const decision = await callHooks(run, { on: 'after-run', output: given.output });
  if (decision.action === 'allow') return given;
  if (decision.action === 'modify') return { output: decision.output, ending };
  return { output: '', ending: run.inbox.cancelRequest ? ending : refusedBy(run, decision) };
}

/** Runs the hooks on an error. They may rewrite its message; the type stays. */
export async function onError(run: Run, ending: End): Promise<End> {
  if (!run.policy.hooks.error || !ending.error) return ending;
  const { type, message, turn } = ending.error;
  const decision = await callHooks(run, { on: 'error', error: { type, message } });
  return decision.action === 'modify' ? { ...ending, error: { type, message: decision.output, turn } } : ending;
}

/**
 * Runs activity `runHooks`. Hooks fail closed: a failed activity blocks. The work clock is stopped, because hooks have their own time
 * limits and the deadline must not replace their decision.
 */
async function callHooks(run: Run, about: Pick<RunHooksInput, 'on' | 'output' | 'error'>): Promise<RunHooksResult> {
  run.clock.stop();
  const { heartbeatTimeoutMs } = run.prepared;
  const input: RunHooksInput = { runId: run.runId, agent: run.prepared.setup.agent, turn: run.counters.turn, ...about };
  for (let losses = 0; ; losses += 1) {
    try {
      const decision = await run.calls.abortable(() => runHooks(input, { summary: `hooks: ${about.on}`, heartbeatTimeoutMs }));
      if (decision.action !== 'allow') recordDecision(run, about.on, decision);
      return decision;
    } catch (error) {
      const problem = readActivityProblem(error);
      if (problem.workerLost && !run.mustStop && losses < RUN_LIMITS.workerLossesMax) continue;
      return { action: 'block', hook: about.on, reason: `the hooks could not run: ${problem.message}` };
    }
  }
}

function recordDecision(run: Run, on: string, decision: Exclude<RunHooksResult, { action: 'allow' }>): void {
  const reason = decision.action === 'modify' ? '' : `${decision.hook}: ${decision.reason}`;
  run.events.add({ type: 'hook.decided', turn: run.counters.turn, on, action: decision.action, reason });
  showDecision(run, `hook ${on}: ${decision.action} ${reason}`.trim());
}

function refusedBy(run: Run, decision: { readonly action: 'block' | 'abort'; readonly hook: string; readonly reason: string }): End {
  const type = decision.action === 'abort' ? 'Hook.Aborted' : 'Hook.Blocked';
  return { kind: 'end', reason: 'error', error: { type, message: `${decision.hook}: ${decision.reason}`, turn: run.counters.turn } };
}
