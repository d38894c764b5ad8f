import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';

/** Shows that an answer is being written, at once and every few seconds, until the work ends. `typing` never rejects. */
export async function whileTyping<T>(work: Promise<T>, typing: () => Promise<void>): Promise<T> {
  let isBusy = false;
  const show = (): void => {
    // a slow platform gets one request at a time
    if (isBusy) return;
    isBusy = true;
    void typing().finally(() => {
      isBusy = false;
    });
  };
  show();
  const timer = setInterval(show, CHANNEL_LIMITS.typingEveryMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
