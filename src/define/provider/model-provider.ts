import type { Message, Part } from '../../contracts/schemas/message.js';
import type { StopReason, ToolChoice, Usage } from '../../contracts/schemas/model.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';

/** One request to a model, free of any provider's wire format. */
export interface ModelRequest {
  /** Name of the model at the provider, without the provider. */
  readonly model: string;
  /** System prompt. */
  readonly prompt: string;
  /** The transcript, oldest first. The last message is of a user, or has the results of tools. */
  readonly messages: readonly Message[];
  /** The number of messages at the end that belong to this request alone: the next request lacks them, so a prompt cache ends before them. @default 0 */
  readonly requestOnlyMessages?: number;
  /** The tools that the model is offered. */
  readonly tools: readonly Pick<ToolDescriptor, 'name' | 'description' | 'schema'>[];
  /** `auto`, `none` (no call is accepted) or `required`. */
  readonly toolChoice: ToolChoice;
  /** The limit of output tokens, thinking included. */
  readonly outputTokensMax: number;
  /** Aborted by a user's cancel, a worker's shutdown or the turn's total time. */
  readonly signal: AbortSignal;
  /** How much the model thinks. @default the model's own default */
  readonly thinking?: ThinkingOrder;
  /** Sampling temperature, 0 to 2, for models that are not known to think. A format without one ignores it. @default the model's own default */
  readonly temperature?: number;
  /** The key of the provider's prompt cache. */
  readonly cacheKey?: string;
  /** `Model.Timeout` when the first byte of the response takes longer, in milliseconds. @default idleMs */
  readonly firstByteMs?: number;
  /** The run of the request, for providers that keep a state between the calls of a run. */
  readonly runId?: string;
  /** True when that run has ended; for providers that keep a state after the last call. Never rejects: false when it is unknown. */
  readonly isRunOver?: () => Promise<boolean>;
  /** The absolute path of the run's workspace: the working folder of an agent that is a child process. */
  readonly workspace?: string;
  /** `Model.StreamIdle` when no byte arrives for this long, in milliseconds. */
  readonly idleMs: number;
  /** Called for each piece of text or thinking as it arrives; must not throw. */
  readonly onDelta: (delta: StreamDelta) => void;
}

/** How much a model thinks, in the form that the model accepts: made from a ThinkingSetting and the facts of the model. */
export type ThinkingOrder =
  | { readonly style: 'off' }
  | { readonly style: 'effort' | 'adaptive'; readonly effort: 'minimal' | 'low' | 'medium' | 'high' }
  | { readonly style: 'budget'; readonly tokens: number };

/** A piece of an answer while it streams. */
export type StreamDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'tool_call'; readonly name: string };

/** A complete answer. `parts` has text, thinking and tool calls in order; their callIds are the provider's and are replaced by the caller. */
export interface ModelAnswer {
  /** Text, thinking and tool calls, in order. */
  readonly parts: readonly Part[];
  /** Why the answer ended: `end`, `tool_calls`, `length`, `refusal` or `paused`. */
  readonly stop: StopReason;
  /** True when the server may hide that the answer was cut: open brackets in it must not be closed. @default false */
  readonly mayBeCut?: boolean;
  /** Absent when the server sent none, or invalid numbers. */
  readonly usage?: Usage;
  /** The server's id of the request, for its support. */
  readonly requestId?: string;
}

/**
 * Calls the models of one wire format.
 *
 * Contract: `call` makes exactly one HTTP request; resolves only with a complete answer; rejects with a ModelError,
 * or with the signal's reason when it was aborted; may be called in parallel; never logs, never puts a key in an error.
 */
export interface ModelProvider {
  call(request: ModelRequest): Promise<ModelAnswer>;
}
