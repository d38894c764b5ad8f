import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../../src/cli/options/duration.js';
import { parseNumber } from '../../../src/cli/options/number.js';
import { writeDuration } from '../../../src/contracts/text/duration.js';

describe('parseDuration', () => {
  it.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['1h', 3_600_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1_500],
    ['500ms', 500],
    ['2d', 172_800_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text, 'deadline')).toBe(ms);
  });

  it.each(['', '90', 's', '-1s', '1 h', '10min', '1h-5m', 'Infinity', '1e3s'])('%j is refused with an example', (text) => {
    expect(() => parseDuration(text, 'deadline')).toThrow(`deadline: a duration such as 90s, 10m or 1h30m, got ${JSON.stringify(text)}`);
  });
});

describe('parseDuration with bounds', () => {
  const bounds = { leastMs: 1_000, mostMs: 2_592_000_000 };

  it.each(['1s', '30d', '720h'])('%s is within them', (text) => {
    expect(parseDuration(text, 'ttl', bounds)).toBe(parseDuration(text, 'ttl'));
  });

  it.each(['0s', '999ms', '31d'])('%s is refused with both, as one would type them', (text) => {
    expect(() => parseDuration(text, 'ttl', bounds)).toThrow(`ttl: 1s to 30d, got ${JSON.stringify(text)}`);
  });
});

describe('writeDuration', () => {
  it.each([
    [600_000, '10m'],
    [90_000, '90s'],
    [1_500, '1500ms'],
    [86_400_000, '1d'],
  ])('%i is %s, which reads back', (ms, text) => {
    expect(writeDuration(ms)).toBe(text);
    expect(parseDuration(text, 'ttl')).toBe(ms);
  });
});

describe('parseNumber', () => {
  it.each([
    ['10', 10],
    ['-1', -1],
    ['1.5', 1.5],
    ['1e9', 1e9],
    ['', ''],
    ['ten', 'ten'],
    ['0x10', '0x10'],
    ['1 0', '1 0'],
  ])('%j gives %j', (text, value) => {
    expect(parseNumber(text)).toBe(value);
  });
});
