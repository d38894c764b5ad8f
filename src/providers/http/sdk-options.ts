const ignore = (): void => undefined;

/**
 * Options that every SDK client of a provider gets.
 *
 * - No retry: Temporal is the only retry layer.
 * - No timeout: an SDK's own one ends when the headers arrive. The call's idle and total limits are the ones that count.
 * - No log: the SDKs log raw chunks of answers at level error.
 */
export const SDK_OPTIONS = {
  maxRetries: 0,
  timeout: 24 * 60 * 60 * 1_000,
  logger: { error: ignore, warn: ignore, info: ignore, debug: ignore },
  logLevel: 'off',
} as const;
