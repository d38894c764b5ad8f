import { describe, expect, it } from 'vitest';
import { TOOL_LIMITS } from '../../../../src/contracts/constants/limits.js';
import { OutputPolicy } from '../../../../src/contracts/schemas/policy.js';
import { outputBounds } from '../../../../src/workflows/policies/tools/output-bounds.js';

describe('outputBounds', () => {
  it('11: one result may take a quarter of the window, four characters a token', () => {
    expect(outputBounds(OutputPolicy.parse({}), 8_000)).toEqual({
      bytesMax: TOOL_LIMITS.outputBytesMax,
      linesMax: TOOL_LIMITS.outputLinesMax,
      charsMax: 8_000,
      keep: 'auto',
    });
  });

  it.each([0, 100, 1_999])('11: a window of %i tokens still leaves 2,000 characters', (window) => {
    expect(outputBounds(OutputPolicy.parse({}), window).charsMax).toBe(TOOL_LIMITS.outputCharsMin);
  });

  it('a policy says its own bytes, lines, kept part and exact ends', () => {
    const policy = OutputPolicy.parse({ bytesMax: 900, linesMax: 5, keep: 'tail', exact: { above: 960, head: 700, tail: 260 } });
    expect(outputBounds(policy, 128_000)).toEqual({
      bytesMax: 900,
      linesMax: 5,
      charsMax: 128_000,
      keep: 'tail',
      exact: { above: 960, head: 700, tail: 260 },
    });
  });
});
