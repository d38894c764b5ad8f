import { z } from 'zod';
import { Part } from '../../contracts/schemas/message.js';
import { StopReason, Usage } from '../../contracts/schemas/model.js';
import type { ProviderServer } from '../../define/provider/wire-format.js';
import type { CustomProvider } from '../../define/provider-definition.js';
import type { AccessOptions } from '../contract/access-options.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from '../contract/provider.js';
import { withoutKeys } from '../errors/redact-key.js';
import { orAbort } from '../http/abortable.js';
import { fetchOfCall, type GuardedFetch, guardedCall, guardedFetch } from '../http/guarded-fetch.js';
import { StreamWatchdog } from '../http/stream-watchdog.js';
import { customError, refusedResponse } from './failure.js';
import { serverEvents } from './server-events.js';

/** What a wire format of others may return. Its fields decide what the run does next, so they are checked. */
const Answer = z.object({
  parts: z.array(Part.refine(({ type }) => type === 'text' || type === 'thinking' || type === 'tool_call', 'text, thinking or tool_call')),
  stop: StopReason,
  mayBeCut: z.boolean().exactOptional(),
  usage: Usage.exactOptional(),
  requestId: z.string().exactOptional(),
});

/** A provider for a wire format of the config. Its requests have the limits of all others, and its errors hold no key. */
export function createCustomProvider(definition: CustomProvider, access: Pick<AccessOptions, 'keys' | 'env'>): ModelProvider {
  const handedOver = new Set<string>();
  const { format } = definition;
  const provider = format.create(serverOf(definition, access, handedOver));
  return {
    call: async (request) => {
      try {
        return checkedAnswer(format.name, await callCustom(provider, request));
      } catch (error) {
        request.signal.throwIfAborted();
        throw withoutKeys(customError(error, format.name), handedOver);
      }
    },
  };
}

function serverOf(
  { baseUrl = '', credentials }: CustomProvider,
  { keys, env }: Pick<AccessOptions, 'keys' | 'env'>,
  handedOver: Set<string>,
): ProviderServer {
  const references = credentials === undefined ? [] : [credentials].flat();
  return {
    baseUrl: baseUrl.replace(/\/+$/u, ''),
    key: (reference = references[0]) => {
      if (reference === undefined) throw new ModelError('Model.Auth', 'the provider has no credentials in the config');
      // a variable that no config names is still in the environment
      const value = keys.resolve(reference) ?? env[reference.replace(/^env:/u, '')]?.trim();
      if (!value) throw new ModelError('Model.Auth', keys.problem(reference) ?? `${reference} is not set`);
      handedOver.add(value);
      return value;
    },
    fetch: fetchOfCall,
    events: serverEvents,
    failure: refusedResponse,
  };
}

async function callCustom(provider: ModelProvider, request: ModelRequest): Promise<ModelAnswer> {
  const watchdog = new StreamWatchdog(request);
  const { idleMs } = request;
  const guard = guardedFetch({ idleMs, watchdog, apiKey: '', stream: 'bytes' });
  const signal = AbortSignal.any([request.signal, watchdog.signal]);
  const onDelta: ModelRequest['onDelta'] = (delta) => {
    watchdog.sawBytes();
    request.onDelta(delta);
  };
  signal.throwIfAborted();
  watchdog.start();
  try {
    return await orAbort(
      guardedCall(guard, async () => await provider.call({ ...request, signal, onDelta })),
      signal,
    );
  } catch (error) {
    throw guard.failure() ?? cutOr(error, guard);
  } finally {
    guard.release();
  }
}

/** A format that could not read an event may have got only its beginning. */
function cutOr(error: unknown, guard: GuardedFetch): unknown {
  const isHalf = error instanceof SyntaxError && guard.endedWithinEvent();
  return isHalf ? new ModelError('Model.StreamTruncated', 'the response ended in the middle of an event') : error;
}

function checkedAnswer(name: string, given: unknown): ModelAnswer {
  const { data, error } = Answer.safeParse(given);
  if (data) return data;
  const [issue] = error.issues;
  const place = issue && issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
  throw new ModelError('Model.BadResponse', `the wire format ${name} returned an invalid answer: ${place}${issue?.message ?? ''}`);
}
