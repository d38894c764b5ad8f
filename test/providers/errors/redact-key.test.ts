import { describe, expect, it } from 'vitest';
import { hideKey } from '../../../src/providers/errors/redact-key.js';

describe('hideKey', () => {
  it('takes out each word that holds the key or a part of it, and leaves the others', () => {
    expect(hideKey('key sk-abcdefghij-wxyz refused, try sk-abc***wxyz again', 'sk-abcdefghij-wxyz')).toBe(
      'key [redacted] refused, try [redacted] again',
    );
  });

  it('leaves texts alone when the key is a placeholder', () => {
    expect(hideKey('there is none of that model', 'none')).toBe('there is none of that model');
    expect(hideKey('text', '')).toBe('text');
  });
});
