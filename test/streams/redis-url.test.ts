import { describe, expect, it } from 'vitest';
import { describeServer, hasCredentials, redisUrlProblem } from '../../src/streams/redis-url.js';

const URL_WITH_SECRETS = 'rediss://some%20one:p%2Fss%C3%B6@redis.example.com:6380/2';

describe('describeServer', () => {
  it.each([
    `cannot parse ${URL_WITH_SECRETS}`,
    'AUTH p/ssö failed',
    'AUTH p%2Fss%C3%B6 failed',
    'user some one is unknown',
    'some%20one:p%2Fss%C3%B6',
  ])('names the server and no credential in %j', (message) => {
    const shown = describeServer(URL_WITH_SECRETS)(message);
    expect(shown).toMatch(/^Redis at redis\.example\.com:6380: .*\[redacted\]/u);
    for (const secret of ['p/ss', 'p%2F', 'some one', 'some%20one']) expect(shown).not.toContain(secret);
  });

  it('changes nothing in a message without credentials, of a URL or a client', () => {
    expect(describeServer('redis://127.0.0.1:6379')('read ECONNRESET')).toBe('Redis at 127.0.0.1:6379: read ECONNRESET');
    expect(describeServer('redis://:100%@127.0.0.1')('100% lost')).toBe('Redis at 127.0.0.1: [redacted] lost');
    expect(describeServer(undefined)('read ECONNRESET')).toBe('Redis: read ECONNRESET');
  });
});

describe('redisUrlProblem', () => {
  it.each(['redis://127.0.0.1', 'redis://localhost:6379/1', 'redis://[::1]:6379', URL_WITH_SECRETS])('%s is fine', (url) => {
    expect(redisUrlProblem(url)).toBeUndefined();
  });

  it.each(['', 'secret', 'http://:secret@host', 'redis://:secret@10.0.0.1', 'redis://secret.example.com'])(
    '%j has a problem, which does not repeat it',
    (url) => {
      expect(redisUrlProblem(url)).toMatch(/^(?:not a URL|http:\/\/ is not|plain redis)/u);
      expect(redisUrlProblem(url)).not.toContain('secret');
    },
  );

  it('plain redis to another machine is allowed on demand', () => {
    expect(redisUrlProblem('redis://10.0.0.1', { allowInsecure: true })).toBeUndefined();
  });

  it('credentials are a user name or a password', () => {
    expect(['redis://a@h', 'redis://:p@h', 'redis://a:p@h'].map(hasCredentials)).toEqual([true, true, true]);
    expect(['redis://h', 'nonsense'].map(hasCredentials)).toEqual([false, false]);
  });
});
