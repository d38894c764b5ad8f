import type { OutputBoundsInput } from '../../../contracts/activities.js';
import { TOOL_LIMITS } from '../../../contracts/constants/limits.js';
import type { OutputPolicy } from '../../../contracts/schemas/policy.js';

/** A token is taken for this many characters. */
const CHARS_PER_TOKEN = 4;

/**
 * How much of one tool output a model with this window (in tokens) reads: the policy's bytes and lines, and no more than its share
 * of the window, which is never cut below the floor.
 */
export function outputBounds(policy: OutputPolicy, contextWindow: number): OutputBoundsInput {
  const share = Math.floor(contextWindow * TOOL_LIMITS.outputWindowFraction * CHARS_PER_TOKEN);
  return {
    bytesMax: policy.bytesMax,
    linesMax: policy.linesMax,
    charsMax: Math.max(TOOL_LIMITS.outputCharsMin, share),
    keep: policy.keep,
    ...(policy.exact ? { exact: policy.exact } : {}),
  };
}
