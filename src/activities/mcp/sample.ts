import { createHash } from 'node:crypto';
import type { CreateMessageRequest, CreateMessageResult } from '@modelcontextprotocol/sdk/types.js';
import type { SamplingEnd } from '../../contracts/schemas/sampling.js';
import { NO_SECRETS, type SecretMask } from '../../contracts/text/secret-mask.js';
import type { Asker, CallSampling } from './asking-context.js';
import { RequestIds, requestRefusal } from './request-refusal.js';
import { type ReadSampling, readSampling } from './sampling-request.js';

/** Answers a request of a server for a completion. Throws an Error with a `code` of JSON-RPC for a request that is refused. */
export type Sample = (params: CreateMessageRequest['params'], asker: Asker) => Promise<CreateMessageResult>;

/** Answers the requests of one attempt of a call, with the model and the budget of its run. */
export function createSample(server: string, { bounds, request }: CallSampling, secrets: SecretMask = NO_SECRETS): Sample {
  const ids = new RequestIds();
  let count = 0;
  return async (params, asker) => {
    count += 1;
    if (count > bounds.requestsMax) {
      throw requestRefusal('invalidRequest', `a call may request at most ${bounds.requestsMax} completions`);
    }
    // masked whole, because a cut could leave a part of a secret
    const { stops, ...read } = readParams(secrets.json(params));
    const hash = createHash('sha256').update(JSON.stringify(read)).digest('hex').slice(0, 16);
    const end = await request({ id: ids.next(hash), server, ...read }, asker);
    return resultOf(end, stops);
  };
}

function readParams(params: CreateMessageRequest['params']): ReadSampling {
  try {
    return readSampling(params);
  } catch (error) {
    throw requestRefusal('invalidParams', `this completion cannot be requested: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function resultOf(end: SamplingEnd, stops: readonly string[]): CreateMessageResult {
  if (end.outcome !== 'answered') throw requestRefusal('rejected', `the completion was ${end.outcome}: ${end.reason}`);
  const { model, stop } = end;
  // providers report in different ways whether a stop sequence came, so the answer is cut here
  const text = cutAt(end.text, stops);
  const stopReason = text === undefined ? (stop === 'length' ? 'maxTokens' : 'endTurn') : 'stopSequence';
  return { model, role: 'assistant', stopReason, content: { type: 'text', text: text ?? end.text } };
}

/** The text before the first stop sequence; undefined without one. */
function cutAt(text: string, stops: readonly string[]): string | undefined {
  const found = stops.map((stop) => text.indexOf(stop)).filter((index) => index !== -1);
  return found.length === 0 ? undefined : text.slice(0, Math.min(...found));
}
