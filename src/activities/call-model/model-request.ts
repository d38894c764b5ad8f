import type { CallModelInput } from '../../contracts/activities.js';
import { MODEL_LIMITS } from '../../contracts/constants/limits.js';
import type { Message, Part, TextPart } from '../../contracts/schemas/message.js';
import type { RunSetup } from '../../contracts/schemas/prepared-run.js';
import type { ModelFacts } from '../../define/model-options.js';
import type { AttemptTimes } from '../../models/attempt-timeouts.js';
import { nearestOrder } from '../../models/thinking-request.js';
import type { ModelRequest } from '../../providers/contract/provider.js';
import { partsText } from '../../providers/transcript/file-parts.js';

/** What a request is made of, beside what the workflow asked for. */
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

/** The request of one attempt, in words of no provider. */
export function buildModelRequest(input: CallModelInput, parts: RequestParts): ModelRequest {
  const { facts, setup, times } = parts;
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
    // a model refuses to be allowed more than it can say
    outputTokensMax: Math.min(wanted, facts.outputTokensMax ?? wanted),
    ...(thinking === undefined ? {} : { thinking }),
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

/** For models that see nothing: a picture is named in its place, also in a tool's result. Messages without one are the same objects. */
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
