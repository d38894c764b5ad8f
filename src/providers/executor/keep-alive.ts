/** For how long something is kept that nobody uses at present. */
export interface KeepOptions {
  readonly ms: number;
  /** How often `isOver` is asked, which never rejects. */
  readonly lookEveryMs: number;
  readonly isOver: () => Promise<boolean>;
  readonly onEnd: () => void;
}

/** Calls `onEnd` once the time is over, or what it was kept for; the function it returns keeps it: nothing is called from then on. */
export function keepWhile({ ms, lookEveryMs, isOver, onEnd }: KeepOptions): () => void {
  const endsAt = Date.now() + ms;
  let isStopped = false;
  const look = async (): Promise<void> => {
    const isDone = Date.now() >= endsAt || (await isOver());
    if (isStopped) return;
    if (isDone) onEnd();
    else timer = later();
  };
  const later = (): NodeJS.Timeout => setTimeout(() => void look(), Math.max(1, Math.min(lookEveryMs, endsAt - Date.now()))).unref();
  let timer = later();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
