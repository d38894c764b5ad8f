import { NO_USAGE } from './no-usage.js';
import type { Usage } from './schemas/model.js';

/** True for what the schema of Usage takes: its five numbers, perhaps that of pictures, and nothing else. Never throws. */
export function isUsage(value: unknown): value is Usage {
  if (value === null || typeof value !== 'object') return false;
  const { imageTokens, ...counts }: Readonly<Record<string, unknown>> = { ...value };
  const names = Object.keys(NO_USAGE);
  const isWhole = Object.keys(counts).length === names.length && names.every((name) => Number.isFinite(counts[name]));
  return isWhole && (!('imageTokens' in value) || Number.isFinite(imageTokens));
}
