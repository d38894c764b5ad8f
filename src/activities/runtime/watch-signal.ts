/**
 * Runs `check` each time that somebody looks at a signal: in a process that was suspended, the code of a tool may run before any timer of
 * ours.
 */
export function watchSignal(signal: AbortSignal, check: () => void): void {
  const looked = <T>(read: () => T): T => {
    check();
    return read();
  };
  Object.defineProperties(signal, {
    aborted: { get: () => looked(() => Reflect.get(AbortSignal.prototype, 'aborted', signal)) },
    reason: { get: () => looked(() => Reflect.get(AbortSignal.prototype, 'reason', signal)) },
    throwIfAborted: { value: () => looked(() => AbortSignal.prototype.throwIfAborted.call(signal)) },
  });
}
