import type { ProviderQuirks } from '../../define/provider-quirks.js';

export type { ModelAnswer, ModelProvider, ModelRequest, StreamDelta, ThinkingOrder } from '../../define/provider/model-provider.js';

/** The address of a server, its key and its quirks. */
export interface ProviderSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** @default none */
  readonly quirks?: ProviderQuirks;
}
