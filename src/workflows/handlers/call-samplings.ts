import { defineQuery, defineSignal, setHandler } from '@temporalio/workflow';
import { SAMPLING_LIMITS } from '../../contracts/constants/limits.js';
import type { SamplingRequest, SamplingState } from '../../contracts/schemas/sampling.js';
import { SAMPLE_SIGNAL, SAMPLING_QUERY } from '../../contracts/text/ids.js';
import type { Run } from '../state/run.js';
import type { HandlerContext } from './handler-context.js';

/**
 * Registers the signal with which a running call requests a completion of its run, and the query with which it finds the answer. Any client
 * can send the signal: what no call at work may request is dropped, and so is what is no request.
 */
export function registerCallSamplings(context: HandlerContext): void {
  const take = (given: unknown): void => {
    context.inbox.signals += 1;
    if (context.run) takeRequest(context.run, given);
  };
  setHandler(defineSignal<[unknown]>(SAMPLE_SIGNAL), take, {
    description: 'A completion that a running call requests. Not for operators.',
  });
  setHandler(defineQuery<SamplingState, [unknown]>(SAMPLING_QUERY), (given) => stateOf(context, given), {
    description: 'The state of a requested completion, for the call that requested it. Not for operators.',
  });
}

function takeRequest({ samplings }: Run, given: unknown): void {
  if (!isObject(given)) return;
  const { call, request, withdrawn } = given;
  if (typeof call !== 'string') return;
  if (typeof withdrawn === 'string') {
    if (samplings.isOpen(call, withdrawn)) samplings.end(withdrawn, { outcome: 'cancelled', reason: 'the server withdrew it' });
    return;
  }
  if (isRequest(request) && request.id.startsWith(`${call}.`)) samplings.take(call, request);
}

function stateOf({ run }: HandlerContext, given: unknown): SamplingState {
  const id = isObject(given) ? given['id'] : undefined;
  return run && typeof id === 'string' ? run.samplings.stateOf(id) : { isPending: false };
}

type Shape = Readonly<Record<string, unknown>>;

function isObject(given: unknown): given is Shape {
  return typeof given === 'object' && given !== null;
}

function isRequest(given: unknown): given is SamplingRequest {
  if (!isObject(given)) return false;
  const { id, server, system, messages, tokensMax, temperature, ...others } = given;
  const { idCharsMax, requestCharsMax, messagesMax, temperatureMax } = SAMPLING_LIMITS;
  return (
    Object.keys(others).length === 0 &&
    typeof id === 'string' &&
    id.length <= idCharsMax &&
    typeof server === 'string' &&
    (system === undefined || typeof system === 'string') &&
    isNumberUpTo(tokensMax, SAMPLING_LIMITS.tokensMax) &&
    (temperature === undefined || isNumberUpTo(temperature, temperatureMax)) &&
    Array.isArray(messages) &&
    messages.length > 0 &&
    messages.length <= messagesMax &&
    messages.every(isMessage) &&
    JSON.stringify(given).length <= requestCharsMax
  );
}

function isNumberUpTo(given: unknown, max: number): boolean {
  return typeof given === 'number' && given >= 0 && given <= max;
}

function isMessage(given: unknown): boolean {
  if (!isObject(given)) return false;
  const { role, parts, ...others } = given;
  return (
    Object.keys(others).length === 0 &&
    (role === 'user' || role === 'assistant') &&
    Array.isArray(parts) &&
    parts.every((part) => isPart(part))
  );
}

function isPart(given: unknown): boolean {
  if (!isObject(given)) return false;
  const { type, ...others } = given;
  const fields = Object.keys(others).toSorted().join();
  if (type === 'text') return fields === 'text' && typeof given['text'] === 'string';
  const { mime, dataBase64 } = given;
  return (
    type === 'file' &&
    fields === 'dataBase64,mime' &&
    typeof mime === 'string' &&
    mime.startsWith('image/') &&
    typeof dataBase64 === 'string'
  );
}
