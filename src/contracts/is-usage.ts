import type { Usage } from './model.js';
import { NO_USAGE } from './no-usage.js';

/** True for what the schema of Usage takes: its five numbers and nothing else. Never throws. */
export function isUsage(value: unknown): value is Usage {
  if (value === null || typeof value !== 'object') return false;
  const counts = new Map<string, unknown>(Object.entries(value));
  const names = Object.keys(NO_USAGE);
  return counts.size === names.length && names.every((name) => Number.isFinite(counts.get(name)));
}
