import type { CallModelInput } from '../../contracts/activities.js';
import { MODEL_LIMITS } from '../../contracts/constants/limits.js';
import type { Message, Part, TextPart } from '../../contracts/schemas/message.js';
import type { RunSetup } from '../../contracts/schemas/prepared-run.js';
import type { ModelFacts } from '../../define/model-options.js';
import type { AttemptTimes } from '../../models/attempt-timeouts.js';
import { nearestOrder } from '../../models/thinking-request.js';
import type { ModelRequest } from '../../providers/contract/provider.js';
import { partsText } from '../../providers/transcript/file-parts.js';

/** The parts of a request that are not in the activity's input. */
export interface RequestParts {
  /** The model's name at its provider. */
  readonly model: string;
  readonly facts: ModelFacts;
  readonly setup: RunSetup;
  readonly messages: readonly Message[];
  readonly times: AttemptTimes;
  readonly signal: AbortSignal;
  readonly isRunOver: NonNullable<ModelRequest['isRunOver']>;
  readonly onDelta: ModelRequest['onDelta'];
}

/** Builds the provider-neutral request of one attempt. */
export function buildModelRequest(input: CallModelInput, parts: RequestParts): ModelRequest {
  const { facts, times } = parts;
  const { sampling } = input;
  const setup = sampling ? { prompt: sampling.system, tools: [] } : parts.setup;
  const temperature = acceptsTemperature(facts) ? sampling?.temperature : undefined;
  const thinking = nearestOrder(input.thinking, facts);
  const messages = [...parts.messages, ...input.requestOnly];
  const wanted = input.outputTokensMax ?? MODEL_LIMITS.outputTokensDefault;
  return {
    model: parts.model,
    prompt: setup.prompt,
    messages: facts.images === false ? messages.map(namePictures) : messages,
    requestOnlyMessages: input.requestOnly.length,
    tools: setup.tools,
    toolChoice: input.toolChoice,
    // a model rejects a limit above its own maximum
    outputTokensMax: Math.min(wanted, facts.outputTokensMax ?? wanted),
    ...(thinking === undefined ? {} : { thinking }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(input.cacheKey === undefined ? {} : { cacheKey: input.cacheKey }),
    runId: input.runId,
    isRunOver: parts.isRunOver,
    ...(input.workspace === undefined ? {} : { workspace: input.workspace }),
    idleMs: times.idleMs,
    ...(times.firstByteMs === undefined ? {} : { firstByteMs: times.firstByteMs }),
    signal: parts.signal,
    onDelta: parts.onDelta,
  };
}

/** Models that think refuse a temperature. */
function acceptsTemperature({ thinkingStyle = 'none' }: ModelFacts): boolean {
  return thinkingStyle === 'none';
}

/**
 * Replaces pictures by their names, also in tool results, for models without image input. Messages without pictures are returned
 * unchanged.
 */
function namePictures(message: Message): Message {
  return message.parts.some(hasPicture) ? { ...message, parts: message.parts.map(namePicture) } : message;
}

function hasPicture(part: Part): boolean {
  return part.type === 'tool_result' ? part.parts.some(hasPicture) : part.type === 'file' && part.mime.startsWith('image/');
}

function namePicture<Some extends Part>(part: Some): Some | TextPart {
  if (!hasPicture(part)) return part;
  if (part.type !== 'tool_result') return { type: 'text', text: partsText([part]) };
  return { ...part, parts: part.parts.map(namePicture) };
}
