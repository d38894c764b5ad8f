/** One KiB, in bytes. */
export const KIB = 1024;

/** One MiB, in bytes. */
export const MIB = 1024 * KIB;

/** One GiB, in bytes. */
export const GIB = 1024 * MIB;

/** One second, in milliseconds. */
export const SECOND_MS = 1_000;

/** One minute, in milliseconds. */
export const MINUTE_MS = 60 * SECOND_MS;

/** One hour, in milliseconds. */
export const HOUR_MS = 60 * MINUTE_MS;

/** One day, in milliseconds. */
export const DAY_MS = 24 * HOUR_MS;
