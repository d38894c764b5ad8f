import { z } from 'zod';
import type { FilePart, TextPart } from './message.js';
import { Usage } from './model.js';

/** Limits of the completions that one call of an MCP server may request. */
export const SamplingBounds = z.strictObject({
  /** Completions of one call. */
  requestsMax: z.number().int(),
  /** Output tokens of one completion. */
  tokensMax: z.number().int(),
});
export type SamplingBounds = z.infer<typeof SamplingBounds>;

/** Usage and cost of the completions for MCP servers. */
export const SamplingTotals = z.strictObject({
  /** Number of completions. */
  requests: z.number().int(),
  /** Their usage. */
  usage: Usage,
  /** Their cost in USD. Absent when a price is unknown. */
  costUsd: z.number().optional(),
});
export type SamplingTotals = z.infer<typeof SamplingTotals>;

/** One message of a requested completion. */
export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  /** Texts, and images by value. */
  readonly parts: readonly (TextPart | FilePart)[];
}

/** A completion as a running call requests it. */
export interface SamplingRequest {
  /** `CALL.HASH`: the same in each attempt of the call. */
  readonly id: string;
  /** Name of the MCP server. */
  readonly server: string;
  readonly system?: string;
  /** The first one and the last one are of the user. */
  readonly messages: readonly SamplingMessage[];
  readonly tokensMax: number;
  readonly temperature?: number;
}

/** Signal of a running call: a request for a completion, or one that it withdraws. */
export type SampleSignal =
  | { readonly call: string; readonly request: SamplingRequest }
  | { readonly call: string /** Id of the request. */; readonly withdrawn: string };

/** How a request ended. `cancelled`: by a stop of the run, the server or the end of its call. */
export type SamplingEnd =
  | { readonly outcome: 'answered'; readonly text: string; readonly model: string; readonly stop: 'end' | 'length' }
  | { readonly outcome: 'refused' | 'failed' | 'cancelled'; readonly reason: string };

/** What a running call finds of its request. */
export interface SamplingState {
  readonly isPending: boolean;
  readonly ended?: SamplingEnd;
}
