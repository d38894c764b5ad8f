import type { LanguageModelV2StreamPart, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { JsonValue } from '../../contracts/schemas/message.js';
import type { ToolChoice } from '../../contracts/schemas/model.js';
import { ModelError } from '../contract/model-error.js';

/** The versions of the AI SDK's specification that are spoken here: 2 is of `ai` 5, 3 of `ai` 6, 4 of `ai` 7. */
const VERSIONS = ['v2', 'v3', 'v4'] as const;
export type AiSdkVersion = (typeof VERSIONS)[number];

/** Options and metadata by the name of an SDK provider, such as `{ openai: { store: false } }`. */
export type AiSdkOptions = Readonly<Record<string, Readonly<Record<string, JsonValue>>>>;

/** One call in the words that all versions share. */
export interface AiSdkCall {
  readonly prompt: readonly AiSdkMessage[];
  readonly maxOutputTokens: number;
  readonly temperature?: number;
  readonly tools?: readonly {
    readonly type: 'function';
    readonly name: string;
    readonly description: string;
    readonly inputSchema: Readonly<Record<string, JsonValue>>;
  }[];
  readonly toolChoice?: { readonly type: ToolChoice };
  readonly abortSignal: AbortSignal;
  readonly includeRawChunks: boolean;
  readonly providerOptions: AiSdkOptions;
  /** Since version 4. */
  readonly reasoning?: 'none' | 'minimal' | 'low' | 'medium' | 'high';
}

/** A piece of an answer. What version 4 added beside pieces of versions 2 and 3 says nothing that is kept. */
export type AiSdkPart = LanguageModelV2StreamPart | LanguageModelV3StreamPart | { readonly type: 'ping' | 'custom' | 'reasoning-file' };

/** A language model of the AI SDK, as far as it is used here. */
export interface AiSdkModel {
  readonly specificationVersion: AiSdkVersion;
  /** The SDK provider and its API, such as `openai.responses`. */
  readonly provider: string;
  doStream(call: AiSdkCall): PromiseLike<{
    readonly stream: ReadableStream<AiSdkPart>;
    readonly response?: { readonly headers?: Readonly<Record<string, string>> };
  }>;
}

/** Takes what a config's `languageModel` gave for a model's id. Throws `Model.BadRequest` for what is no model of a version spoken here. */
export function aiSdkModel(given: unknown, modelId: string): AiSdkModel {
  const problem = problemOf(given);
  if (problem) throw new ModelError('Model.BadRequest', `languageModel(${JSON.stringify(modelId.slice(0, 200))}) ${problem}`);
  // its version says that it has the rest
  return given as AiSdkModel;
}

function problemOf(given: unknown): string | undefined {
  if (typeof given === 'string') return 'returned a string. Return the model itself, made by a provider package of the AI SDK.';
  if (given === null || typeof given !== 'object') return `returned ${String(given)}, not a language model of the AI SDK`;
  const version: unknown = Reflect.get(given, 'specificationVersion');
  const isSpoken = VERSIONS.some((spoken) => spoken === version);
  if (!isSpoken) return `has the specification version ${String(version)}; supported: ${VERSIONS.join(', ')}`;
  return typeof Reflect.get(given, 'doStream') === 'function' ? undefined : 'has no doStream: it is not a language model';
}

export interface WithOptions {
  readonly providerOptions?: AiSdkOptions;
}

export interface Text extends WithOptions {
  readonly type: 'text';
  readonly text: string;
}

/** Bytes in base64: as they are, and since version 4 with a tag. */
export type Bytes = string | { readonly type: 'data'; readonly data: string };

export interface File {
  readonly type: 'file';
  readonly mediaType: string;
  readonly data: Bytes;
}

/** An image of a tool's result has another name in each version. */
export interface ResultImage {
  readonly type: 'media' | 'image-data' | 'file';
  readonly mediaType: string;
  readonly data: Bytes;
}

export interface Reasoning extends WithOptions {
  readonly type: 'reasoning';
  readonly text: string;
}

export interface Call extends WithOptions {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: Readonly<Record<string, JsonValue>>;
}

export interface Result {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output:
    | { readonly type: 'text' | 'error-text'; readonly value: string }
    | { readonly type: 'content'; readonly value: readonly (Text | ResultImage)[] };
}

/** A message in the words of the AI SDK's specification. */
export type AiSdkMessage = WithOptions &
  (
    | { readonly role: 'system'; readonly content: string }
    | { readonly role: 'user'; readonly content: readonly (Text | File)[] }
    | { readonly role: 'assistant'; readonly content: readonly (Text | Reasoning | Call)[] }
    | { readonly role: 'tool'; readonly content: readonly Result[] }
  );
