/** The SDKs' own timeout ends when headers arrive; ours (idle and total) are the ones that count. */
export const SDK_TIMEOUT_MS = 24 * 60 * 60 * 1_000;

const ignore = (): void => undefined;

/** The SDKs log raw chunks of answers at error level; nothing of theirs is logged. */
export const SILENT_LOGGER = { error: ignore, warn: ignore, info: ignore, debug: ignore };
