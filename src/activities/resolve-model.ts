import type { AgentActivities } from '../contracts/activities.js';
import { withHeartbeat } from './heartbeat.js';
import { candidateFor, type RouteOptions } from './resolve-route.js';

/** Makes the activity `resolveModel`: looks up a model that a person asks a live run to go on with. A model that cannot be asked is data. */
export function createResolveModel(options: RouteOptions): AgentActivities['resolveModel'] {
  return (input) => {
    const startedAt = Date.now();
    return withHeartbeat(
      'resolveModel',
      () => ({ phase: 'resolving a model', elapsedMs: Date.now() - startedAt }),
      async () => {
        const found = candidateFor(input.model, input.thinking, options);
        if ('problem' in found || found.candidate.price || !input.needsPrice) return found;
        return { problem: `model ${input.model}: its price is unknown, and this run keeps a money cap` };
      },
    );
  };
}
