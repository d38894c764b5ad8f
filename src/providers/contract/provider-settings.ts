import type { ProviderQuirks } from '../../define/provider-quirks.js';

/** Where a server is, the key for it, and what it does in its own way. */
export interface ProviderSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** @default none */
  readonly quirks?: ProviderQuirks;
}
