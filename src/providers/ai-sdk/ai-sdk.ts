import type { AiSdkProvider, LanguageModelTools } from '../../define/provider-definition.js';
import type { AccessOptions } from '../contract/access-options.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from '../contract/provider.js';
import { orAbort } from '../http/abortable.js';
import { fetchOfCall, type GuardedFetch, guardedCall, guardedFetch } from '../http/guarded-fetch.js';
import { requestIdIn } from '../http/response-headers.js';
import { StreamWatchdog } from '../http/stream-watchdog.js';
import { refuseLostCall } from '../transcript/decode-calls.js';
import { toolNames } from '../transcript/tool-names.js';
import { toAiSdkCall } from './call.js';
import { aiSdkError } from './failure.js';
import { type AiSdkModel, type AiSdkPart, aiSdkModel } from './model.js';
import { AiSdkStream } from './stream.js';

/** Once the answer is complete, what may still come is not waited for any longer. */
const END_GRACE_MS = 5_000;

type Settings = Pick<AiSdkProvider, 'languageModel' | 'providerOptions'>;

/**
 * A provider for models of the Vercel AI SDK, of any provider package that gives specification version 2, 3 or 4. Where a request goes is
 * that package's own affair, and so is its fetch where the config does not hand it the guarded one; silence and cut answers are judged here.
 */
export function createAiSdkProvider(settings: Settings, access: Pick<AccessOptions, 'keys' | 'env'>): ModelProvider {
  const models = new Map<string, AiSdkModel>();
  const handedOver = new Set<string>();
  const tools: LanguageModelTools = {
    key: (reference) => {
      const value = keyOf(reference, access);
      handedOver.add(value);
      return value;
    },
    fetch: fetchOfCall,
  };
  return {
    call: async (request) => {
      try {
        const model = models.get(request.model) ?? aiSdkModel(settings.languageModel(request.model, tools), request.model);
        models.set(request.model, model);
        return await callAiSdk(model, request, settings);
      } catch (error) {
        request.signal.throwIfAborted();
        throw aiSdkError(error, handedOver);
      }
    },
  };
}

/** A variable that no worker takes for a key is still in the environment. */
function keyOf(reference: string, { keys, env }: Pick<AccessOptions, 'keys' | 'env'>): string {
  const value = keys.resolve(reference) ?? env[reference.replace(/^env:/u, '')]?.trim();
  if (!value) throw new ModelError('Model.Auth', keys.problem(reference) ?? `${reference} is not set`);
  return value;
}

async function callAiSdk(model: AiSdkModel, request: ModelRequest, { providerOptions = {} }: Settings): Promise<ModelAnswer> {
  const watchdog = new StreamWatchdog(request);
  const { idleMs } = request;
  const guard = guardedFetch({ idleMs, watchdog, apiKey: '', stream: 'bytes' });
  const signal = AbortSignal.any([request.signal, watchdog.signal]);
  const names = toolNames(request.tools);
  const reader = new AiSdkStream({ model, onDelta: request.onDelta, ownName: (name) => names.own(name) });
  signal.throwIfAborted();
  watchdog.start();
  try {
    const call = toAiSdkCall(model, request, { providerOptions, signal });
    const { stream, response } = await orAbort(
      guardedCall(guard, () => model.doStream(call)),
      signal,
    );
    watchdog.sawHeaders();
    await readParts(stream, reader, { watchdog, signal });
    return completeAnswer(reader, requestIdIn(new Headers(response?.headers)) ?? reader.requestId);
  } catch (error) {
    throw guard.failure() ?? cutOr(error, guard);
  } finally {
    guard.release();
  }
}

interface Reading {
  readonly watchdog: StreamWatchdog;
  readonly signal: AbortSignal;
}

/** Reads to the end, or to the abort. A fault after the answer is complete does no harm. */
async function readParts(stream: ReadableStream<AiSdkPart>, reader: AiSdkStream, { watchdog, signal }: Reading): Promise<void> {
  const parts = stream.getReader();
  const cancel = (): Promise<void> =>
    parts.cancel(signal.reason).catch(() => {
      // a source that fails when it is left has failed nobody
    });
  const abort = (): void => void cancel();
  signal.addEventListener('abort', abort, { once: true });
  try {
    // a cancelled reader is done
    for (let read = await parts.read(); !read.done; read = await parts.read()) {
      // that one says only that the package begins
      if (read.value.type !== 'stream-start') watchdog.sawBytes();
      reader.add(read.value);
      if (reader.isComplete()) watchdog.shortenTo(END_GRACE_MS);
    }
    if (!reader.isComplete()) signal.throwIfAborted();
  } catch (error) {
    if (!reader.isComplete()) throw error;
  } finally {
    signal.removeEventListener('abort', abort);
    await cancel();
  }
}

function completeAnswer(reader: AiSdkStream, requestId: string | undefined): ModelAnswer {
  const details = requestId === undefined ? {} : { requestId };
  if (reader.isEmpty() && !reader.isComplete()) throw new ModelError('Model.EmptyStream', 'the response stream is empty', details);
  if (!reader.isComplete()) throw new ModelError('Model.StreamTruncated', 'the response ended before its finish', details);
  const parts = reader.parts();
  if (reader.endsInCall()) refuseLostCall(parts, details);
  const usage = reader.usage();
  return { stop: reader.stop(), parts, ...(usage ? { usage } : {}), ...details };
}

/** What a package could not read may be the beginning of an event only. */
function cutOr(error: unknown, guard: GuardedFetch): unknown {
  const isHalf = guard.endedWithinEvent() && aiSdkError(error).type === 'Model.BadResponse';
  return isHalf ? new ModelError('Model.StreamTruncated', 'the response ended in the middle of an event') : error;
}
