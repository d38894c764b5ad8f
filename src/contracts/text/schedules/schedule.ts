import { z } from 'zod';
import { AUTH_LIMITS, SCHEDULE_LIMITS } from '../../constants/limits.js';

/** What happens at a time of a schedule while its earlier run is active. */
export const ScheduleOverlap = z.enum(['skip', 'buffer-one', 'buffer-all', 'cancel-other', 'allow-all']);
export type ScheduleOverlap = z.infer<typeof ScheduleOverlap>;

const Numbers = z.array(z.number().int()).max(100);

/** Wall-clock times: those that match all fields. A list names each value that matches. */
export const Calendar = z.strictObject({
  second: Numbers,
  minute: Numbers,
  hour: Numbers,
  dayOfMonth: Numbers,
  /** January is 1. */
  month: Numbers,
  /** Sunday is 0. */
  dayOfWeek: Numbers,
  /** @default every year */
  year: Numbers.optional(),
});
export type Calendar = z.infer<typeof Calendar>;

/** The times of a schedule: those that match one of the calendars, and the multiples of the interval since 1970. */
export const ScheduleTimes = z.strictObject({
  /** As a person reads them, such as `cron 0 8 * * 1-5`. */
  text: z.string(),
  calendars: z.array(Calendar).max(2),
  /** Interval in milliseconds. @default none */
  everyMs: z.number().int().optional(),
  /** Time zone of the calendars, such as `Europe/Berlin`. */
  timeZone: z.string().max(SCHEDULE_LIMITS.timeZoneCharsMax),
});
export type ScheduleTimes = z.infer<typeof ScheduleTimes>;

/**
 * What the owner of an embedded server allows a schedule, in the state folder: to start this input at these times, in these periods. Signed,
 * so that only the owner can write it.
 */
export const ScheduleGrant = z.strictObject({
  v: z.literal(1),
  name: z.string(),
  /** Hash of the input that the schedule starts. */
  inputHash: z.string(),
  times: ScheduleTimes,
  /** The periods in which the schedule is active, in milliseconds since 1970. The last one may be open. */
  periods: z.array(z.strictObject({ fromMs: z.number(), toMs: z.number().optional() })).max(SCHEDULE_LIMITS.periodsMax),
  /** Signature of all other fields. */
  auth: z.string().max(AUTH_LIMITS.signatureCharsMax).optional(),
});
export type ScheduleGrant = z.infer<typeof ScheduleGrant>;

/** Reads the text of a grant file. Undefined for a text that is no grant. The signature is not checked. */
export function parseGrant(text: string): ScheduleGrant | undefined {
  try {
    return ScheduleGrant.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
