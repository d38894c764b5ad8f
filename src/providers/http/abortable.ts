/** What a piece of work gives; or the signal's reason, as soon as it is aborted: not everybody minds a signal. */
export async function orAbort<Value>(work: PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  const over = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { signal: over.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    over.abort();
  }
}

/** Rejects once a signal is aborted: what is raced against it is not waited for when it ignores the signal. */
export function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error('stopped'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
