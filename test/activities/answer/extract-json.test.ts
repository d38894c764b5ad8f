import { describe, expect, it } from 'vitest';
import { answerJson } from '../../../src/activities/answer/extract-json.js';
import { cpuMs } from '../../support/cpu-time.js';

describe('answerJson', () => {
  it.each([
    ['a block that ends behind its last line', 'Here:\n```json\n{"a": 1}```'],
    ['a block with more fences in its text', '```json\n{"a": 1,\n"b": "```js"}\n```'],
    ['an indented block', '  ```\n  {"a": 1}\n  ```  '],
  ])('%s is read', (_, text) => {
    expect(answerJson(text)).toMatchObject({ value: { a: 1 } });
  });

  it('a block that is never closed is none', () => {
    expect(answerJson('```json\n{"a": 1}\n')).toMatchObject({ problem: expect.stringContaining('it is not JSON alone') });
  });

  it.each([
    ['fences that never close', '```a\n'.repeat(200_000)],
    ['blanks in an open fence', `\`\`\`\n${' '.repeat(1_000_000)}x`],
    ['blank lines in an open fence', `\`\`\`\n${`\n${' '.repeat(9)}`.repeat(100_000)}`],
    ['backticks', '`'.repeat(1_000_000)],
    ['brackets', '['.repeat(1_000_000)],
  ])('X32: 1 MB of %s is read in a moment: it would hold up the whole worker', (_, text) => {
    const startedAt = cpuMs();
    expect(answerJson(text)).toHaveProperty('problem');
    expect(cpuMs() - startedAt).toBeLessThan(1_000);
  });
});
