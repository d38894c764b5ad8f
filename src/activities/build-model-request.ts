import type { CallModelInput } from '../contracts/activities.js';
import { MODEL_LIMITS } from '../contracts/limits.js';
import type { Message } from '../contracts/message.js';
import type { RunSetup } from '../contracts/prepared-run.js';
import type { ModelFacts } from '../define/model-options.js';
import type { AttemptTimes } from './model-times.js';
import type { ModelRequest } from './providers/provider.js';
import { nearestOrder } from './thinking-order.js';

/** What a request is made of, beside what the workflow asked for. */
export interface RequestParts {
  /** The model's name at its provider. */
  readonly model: string;
  readonly facts: ModelFacts;
  readonly setup: RunSetup;
  readonly messages: readonly Message[];
  readonly times: AttemptTimes;
  readonly signal: AbortSignal;
  readonly onDelta: ModelRequest['onDelta'];
}

/** The request of one attempt, in words of no provider. */
export function buildModelRequest(input: CallModelInput, parts: RequestParts): ModelRequest {
  const { facts, setup, times } = parts;
  const thinking = nearestOrder(input.thinking, facts);
  const wanted = input.outputTokensMax ?? MODEL_LIMITS.outputTokensDefault;
  return {
    model: parts.model,
    prompt: setup.prompt,
    messages: [...parts.messages, ...input.requestOnly],
    requestOnlyMessages: input.requestOnly.length,
    tools: setup.tools,
    toolChoice: input.toolChoice,
    // a model refuses to be allowed more than it can say
    outputTokensMax: Math.min(wanted, facts.outputTokensMax ?? wanted),
    ...(thinking === undefined ? {} : { thinking }),
    ...(input.cacheKey === undefined ? {} : { cacheKey: input.cacheKey }),
    runId: input.runId,
    ...(input.workspace === undefined ? {} : { workspace: input.workspace }),
    idleMs: times.idleMs,
    ...(times.firstByteMs === undefined ? {} : { firstByteMs: times.firstByteMs }),
    signal: parts.signal,
    onDelta: parts.onDelta,
  };
}
