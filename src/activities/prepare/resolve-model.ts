import { Context } from '@temporalio/activity';
import type { AgentActivities, ResolveModelInput, ResolveModelResult } from '../../contracts/activities.js';
import { isBareModel } from '../../contracts/models/model-ref.js';
import { findBareModel } from '../../models/find-bare-model.js';
import { candidateFor, type RouteOptions } from '../../models/resolve-route.js';
import { withHeartbeat } from '../runtime/heartbeat.js';

/** Makes the activity `resolveModel`: looks up the model that a message switches a run to. An unusable model is a result, not a failure. */
export function createResolveModel(options: RouteOptions): AgentActivities['resolveModel'] {
  return (input) => {
    const startedAt = Date.now();
    return withHeartbeat(
      'resolveModel',
      () => ({ phase: 'resolving a model', elapsedMs: Date.now() - startedAt }),
      () => resolveModel(input, { ...options, signal: Context.current().cancellationSignal }),
    );
  };
}

/** Looks up the model. A requested thinking level must be supported; that of the model before is mapped to the nearest one. */
export async function resolveModel(
  { model: wanted, thinking, thinkingBefore, needsPrice = false }: ResolveModelInput,
  options: RouteOptions & { readonly signal: AbortSignal },
): Promise<ResolveModelResult> {
  const named = isBareModel(wanted) ? await findBareModel(wanted, options) : { model: wanted };
  if ('problem' in named) return named;
  if (isExecutor(named.model)) return { problem: `model ${named.model}: it is an executor, and a run cannot switch to an executor` };
  const match = thinking === undefined ? 'nearest' : 'strict';
  const found = candidateFor({ model: named.model, thinking: thinking ?? thinkingBefore, match, needsPrice }, options);
  return 'problem' in found ? found : { candidate: found.candidate };
}

function isExecutor(model: string): boolean {
  return model.startsWith('subprocess/') || model.startsWith('stub/');
}
