import type { Message, Part } from '../../contracts/schemas/message.js';
import type { StopReason, ToolChoice, Usage } from '../../contracts/schemas/model.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import type { ProviderQuirks } from '../../define/provider-quirks.js';

/** One request to a model, free of any provider's wire format. */
export interface ModelRequest {
  readonly model: string;
  readonly prompt: string;
  readonly messages: readonly Message[];
  /** How many messages at the end are of this request only: the next one will not have them, so nothing after them can be kept. @default 0 */
  readonly requestOnlyMessages?: number;
  readonly tools: readonly Pick<ToolDescriptor, 'name' | 'description' | 'schema'>[];
  readonly toolChoice: ToolChoice;
  /** All that may be paid for, thinking included. */
  readonly outputTokensMax: number;
  /** Aborted by a user's cancel, a worker's shutdown or the turn's total time. */
  readonly signal: AbortSignal;
  /** How much to think; absent: what the model does by itself. */
  readonly thinking?: ThinkingOrder;
  /** What the provider keeps of the prompt is found again by this name. */
  readonly cacheKey?: string;
  /** No byte of the answer for this long: `Model.Timeout`. @default idleMs */
  readonly firstByteMs?: number;
  /** Who asks: for providers that keep something between the calls of a run. */
  readonly runId?: string;
  /** Whether that run has ended, asked when nobody asks the provider any more. Never rejects: false where it is not known now. */
  readonly isRunOver?: () => Promise<boolean>;
  /** The run's folder, absolute: where an agent that is a child process works. */
  readonly workspace?: string;
  /** No bytes for this long: `Model.StreamIdle`. */
  readonly idleMs: number;
  /** Called for each piece of text or thinking as it arrives; must not throw. */
  readonly onDelta: (delta: StreamDelta) => void;
}

/** How much a model is to think, in the words that it takes: made from a ThinkingSetting and what is known of the model. */
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
  readonly parts: readonly Part[];
  readonly stop: StopReason;
  /** The server may have hidden that the answer was cut: what is open in it must not be closed. @default false */
  readonly mayBeCut?: boolean;
  /** Absent when the server sent none, or nonsense. */
  readonly usage?: Usage;
  readonly requestId?: string;
}

/**
 * A door to models of one wire format.
 *
 * Contract: `call` makes exactly one HTTP request; resolves only with a complete answer; rejects with a ModelError,
 * or with the signal's reason when it was aborted; may be called in parallel; never logs, never puts a key in an error.
 */
export interface ModelProvider {
  call(request: ModelRequest): Promise<ModelAnswer>;
}

/** Where a server is, the key for it, and what it does in its own way. */
export interface ProviderSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** @default none */
  readonly quirks?: ProviderQuirks;
}
