import { NO_USAGE } from '../../contracts/models/usage.js';
import type { Usage } from '../../contracts/schemas/model.js';

/** A server's numbers as a Usage; undefined when one of them is missing or nonsense, so that the caller estimates instead. */
export function reportedUsage(numbers: {
  readonly input: unknown;
  readonly output: unknown;
  readonly cacheRead?: unknown;
  readonly cacheWrite?: unknown;
  readonly reasoning?: unknown;
  /** What the server says of its input, where it may count pictures apart. */
  readonly inputDetails?: unknown;
}): Usage | undefined {
  const { input, output } = numbers;
  if (!isCount(input) || !isCount(output)) return undefined;
  const pictures = imageTokens(numbers.inputDetails);
  return {
    ...NO_USAGE,
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: isCount(numbers.cacheRead) ? numbers.cacheRead : 0,
    cacheWriteTokens: isCount(numbers.cacheWrite) ? numbers.cacheWrite : 0,
    reasoningTokens: isCount(numbers.reasoning) ? numbers.reasoning : 0,
    ...(isCount(pictures) && pictures <= input ? { imageTokens: pictures } : {}),
  };
}

function imageTokens(details: unknown): unknown {
  return typeof details === 'object' && details !== null && 'image_tokens' in details ? details.image_tokens : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
