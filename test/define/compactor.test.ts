import { describe, expect, it } from 'vitest';
import { Config } from '../../src/define/define-config.js';

describe('compactor of a config', () => {
  it('is a function', () => {
    expect(Config.safeParse({ compactor: () => [] }).success).toBe(true);
  });

  it('that is none is told of, with what is needed', () => {
    const { error } = Config.safeParse({ compactor: 'tiered' });
    expect(error?.issues).toMatchObject([{ path: ['compactor'], message: expect.stringContaining('a function ({ messages') }]);
  });
});
