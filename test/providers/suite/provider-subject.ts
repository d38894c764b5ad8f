import type { ModelProvider, ThinkingOrder } from '../../../src/providers/contract/provider.js';
import type { ScriptedServer } from './scripted-server.js';

/** A provider under test, and what the suite has to know of it. */
export interface ProviderSubject {
  readonly model: string;
  /** The provider with its right key, or with another one. */
  provider(apiKey?: string): ModelProvider;
  /** How this model is told to think, for the cases about thinking; absent: it thinks, or not, by itself. */
  readonly thinking?: ThinkingOrder;
  /** The server at the far end, where it plays what a case says; absent: a real model answers as it likes. */
  readonly server?: ScriptedServer;
  /** A program of others stands before the server: it checks keys itself, is slow, and tells a cut in words of its own. */
  readonly gateway?: true;
  /** How many bytes lie between the cuts of a stream, where each takes long, or where a parser of others is cut. @default 1 */
  readonly cutStep?: number;
  /** Ends what was started for it, but for the server. */
  close?(): Promise<void>;
}

/** A subject whose far end does what a case says. */
export type ScriptedSubject = ProviderSubject & { readonly server: ScriptedServer };
