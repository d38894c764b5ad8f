import type { RunHooksInput, RunHooksResult } from '../../contracts/activities.js';
import { decisionSignal, throwIfStopped } from '../runtime/cancellation.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import type { HookRunner } from './hook-runner.js';

/** Makes the activity `runHooks`: the hooks before and after a run, and on its error. */
export function createRunHooks({ hooks }: { readonly hooks: HookRunner }): (input: RunHooksInput) => Promise<RunHooksResult> {
  return (input) => {
    const startedAt = Date.now();
    return withHeartbeat(
      'runHooks',
      () => ({ phase: `hooks ${input.on}`, elapsedMs: Date.now() - startedAt }),
      () => runHooks(input, hooks),
    );
  };
}

async function runHooks({ on, ...question }: RunHooksInput, hooks: HookRunner): Promise<RunHooksResult> {
  const outcome = await hooks.run(on, { ...question, signal: decisionSignal() });
  throwIfStopped(`the hooks ${on}`);
  if (outcome.action !== 'modify') return outcome;
  return outcome.output === undefined ? { action: 'allow' } : { action: 'modify', output: outcome.output };
}
