import { describe, expect, it } from 'vitest';
import { firingId, isScheduleName, readFiring } from '../../../../src/contracts/text/schedules/firing.js';
import { isTimeOf, readTimes, type ScheduleTimesOptions } from '../../../../src/contracts/text/schedules/times.js';

function timesOf(options: ScheduleTimesOptions) {
  const reading = readTimes(options);
  if ('problem' in reading) throw new Error(reading.problem);
  return reading.times;
}

const isAt = (options: ScheduleTimesOptions, iso: string): boolean => isTimeOf(timesOf(options), Date.parse(iso));

describe('times of a schedule', () => {
  it.each<[cron: string, at: string, expected: boolean]>([
    ['0 8 * * 1-5', '2027-03-01T08:00:00Z', true],
    ['0 8 * * 1-5', '2027-03-01T08:00:00.900Z', true],
    ['0 8 * * 1-5', '2027-03-01T08:00:01Z', false],
    ['0 8 * * 1-5', '2027-03-01T08:01:00Z', false],
    ['0 8 * * 1-5', '2027-02-28T08:00:00Z', false],
    ['0 8 * * MON-fri', '2027-03-01T08:00:00Z', true],
    ['*/15 9-17/4 * jan,Mar *', '2027-03-01T13:45:00Z', true],
    ['*/15 9-17/4 * jan,Mar *', '2027-03-01T14:45:00Z', false],
    ['*/15 9-17/4 * jan,Mar *', '2027-02-01T13:45:00Z', false],
    ['5/20 * * * *', '2027-02-01T13:45:00Z', true],
    ['0 0 * * 7', '2027-02-28T00:00:00Z', true],
    // crontab(5): either of the days
    ['0 0 13 * 5', '2027-02-12T00:00:00Z', true],
    ['0 0 13 * 5', '2027-02-13T00:00:00Z', true],
    ['0 0 13 * 5', '2027-02-14T00:00:00Z', false],
    ['@daily', '2027-02-14T00:00:00Z', true],
    ['@monthly', '2027-02-14T00:00:00Z', false],
  ])('cron %s has %s: %s', (cron, at, expected) => {
    expect(isAt({ cron }, at)).toBe(expected);
  });

  it('an interval counts from 1970, whatever the time zone', () => {
    expect(isAt({ everyMs: 21_600_000 }, '2027-02-01T18:00:00Z')).toBe(true);
    expect(isAt({ everyMs: 21_600_000, timeZone: 'Asia/Kolkata' }, '2027-02-01T18:00:00Z')).toBe(true);
    expect(isAt({ everyMs: 21_600_000 }, '2027-02-01T19:00:00Z')).toBe(false);
  });

  it('a time of day is that of the time zone, in summer and in winter', () => {
    const daily = { at: '08:00', timeZone: 'Europe/Berlin' };
    expect(isAt(daily, '2027-01-15T07:00:00Z')).toBe(true);
    expect(isAt(daily, '2027-07-15T06:00:00Z')).toBe(true);
    expect(isAt(daily, '2027-07-15T07:00:00Z')).toBe(false);
  });

  it('one time comes once', () => {
    const once = { at: '2028-02-29T08:00', timeZone: 'America/New_York' };
    expect(isAt(once, '2028-02-29T13:00:00Z')).toBe(true);
    expect(isAt(once, '2029-02-28T13:00:00Z')).toBe(false);
  });

  it.each<[options: ScheduleTimesOptions, problem: RegExp]>([
    [{}, /^use exactly one of cron, every and at; got 0/u],
    [{ cron: '@daily', at: '08:00' }, /^use exactly one .*got 2/u],
    [{ cron: '0 8 * *' }, /^cron: five fields: .*got "0 8 \* \*"/u],
    [{ cron: '0 25 * * *' }, /^cron: hour: 0–23, .*got "25"/u],
    [{ cron: '60 8 * * *' }, /^cron: minute: 0–59/u],
    [{ cron: '0 8 * * 1-0' }, /^cron: day of week: /u],
    [{ cron: '*/0 8 * * *' }, /^cron: minute: /u],
    [{ cron: '0 8 * foo *' }, /^cron: month: 1–12 or jan–dec/u],
    [{ cron: '0 8 0 * *' }, /^cron: day of month: /u],
    [{ cron: `0 8 * * ${'1,'.repeat(500)}` }, /^cron: five fields/u],
    [{ cron: '' }, /^cron: five fields/u],
    [{ at: '8:00' }, /^at: a time such as 08:00 /u],
    [{ at: '24:00' }, /^at: /u],
    [{ at: '2027-02-30T08:00' }, /^at: .*got "2027-02-30T08:00"/u],
    [{ at: '08:00', timeZone: 'Mars/Olympus' }, /^time zone: .*got "Mars\/Olympus"/u],
    [{ at: '08:00', timeZone: '+02:00' }, /^time zone: /u],
    [{ everyMs: 500 }, /^every: whole seconds, 1s to 366d; got 500ms/u],
    [{ everyMs: 1_500 }, /^every: whole seconds/u],
    [{ everyMs: Number.NaN }, /^every: /u],
  ])('%j is refused with a reason', (options, problem) => {
    expect(readTimes(options)).toEqual({ problem: expect.stringMatching(problem) });
  });

  it('the id of a start is the name and the time, and is read back', () => {
    const atMs = Date.parse('2030-01-31T08:00:00.400Z');
    const id = firingId({ name: 'daily-report', atMs });
    expect(id).toBe('daily-report-2030-01-31T08:00:00Z');
    expect(readFiring(id)).toEqual({ name: 'daily-report', atMs: Date.parse('2030-01-31T08:00:00Z') });
    for (const other of ['daily', 'daily-2030-01-31', '../x-2030-01-31T08:00:00Z', 'x-2030-99-31T08:00:00Z', '-2030-01-31T08:00:00Z'])
      expect(readFiring(other)).toBeUndefined();
  });

  it('a name is an id that leaves room for the time', () => {
    expect(['daily', 'a'.repeat(150), 'team:daily_1.x'].map(isScheduleName)).toEqual([true, true, true]);
    expect(['', 'a/b', '../a', '-a', 'a b', 'a'.repeat(151)].map(isScheduleName)).toEqual(Array.from({ length: 6 }, () => false));
  });
});
