import { isUsage } from '../contracts/is-usage.js';
import type { Usage } from '../contracts/schemas/model.js';

/** What the details of a failure, or of a last heartbeat, say that was used; undefined when they say nothing. Never throws. */
export function usageIn(details: unknown): Usage | undefined {
  return details !== null && typeof details === 'object' && 'usage' in details && isUsage(details.usage) ? details.usage : undefined;
}
