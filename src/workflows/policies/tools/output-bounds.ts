import type { OutputBoundsInput } from '../../../contracts/activities.js';
import { TOOL_LIMITS } from '../../../contracts/constants/limits.js';
import type { OutputPolicy } from '../../../contracts/schemas/policy.js';

/** The estimated number of characters of a token. */
const CHARS_PER_TOKEN = 4;

/**
 * The limits of one tool output for a model with this context window (in tokens): the policy's bytes and lines, and a share of the window
 * in characters, which has a minimum.
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
