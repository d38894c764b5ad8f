import { z } from 'zod';
import { MODEL_LIMITS } from '../../contracts/constants/limits.js';
import { Message } from '../../contracts/schemas/message.js';
import { estimateTokens } from '../../contracts/text/estimate-tokens.js';
import type { CompactorContext, CustomCompactor } from '../../define/compactor.js';
import { failure, messageOf } from '../runtime/failures.js';

/** What the config's compactor is given; the messages are copied for it. */
export type CustomCompaction = Omit<CompactorContext, 'messages'> & { readonly messages: readonly Message[] };

/**
 * Runs the config's own compactor and checks what it gives. Throws `Compaction.Failed` when it throws, when its time is over, and when it
 * gives anything but messages that are shorter than those it got.
 */
export async function runCustomCompactor(compactor: CustomCompactor, given: CustomCompaction): Promise<Message[]> {
  // a copy: these messages are in this worker's cache under their hashes
  const context = { ...given, messages: structuredClone([...given.messages]) };
  const made = await callCompactor(compactor, context);
  const checked = z.array(Message).safeParse(made);
  if (!checked.success) throw failure('Compaction.Failed', `the compactor gave no messages: ${z.prettifyError(checked.error)}`);
  const bytes = Buffer.byteLength(JSON.stringify(checked.data));
  if (bytes > MODEL_LIMITS.answerBytesMax) {
    throw failure('Compaction.Failed', `the compactor gave ${bytes} bytes; at most ${MODEL_LIMITS.answerBytesMax}`);
  }
  if (estimateTokens(checked.data) >= estimateTokens(given.messages)) {
    throw failure('Compaction.Failed', 'the compactor gave messages that are no shorter than those it got');
  }
  return checked.data;
}

/** One that ignores its signal is left behind. */
async function callCompactor(compactor: CustomCompactor, context: CompactorContext): Promise<unknown> {
  const { signal } = context;
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error('its time is over'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    // one that throws at once is raced like the others, or the signal's rejection would be nobody's
    return await Promise.race([(async () => compactor(context))(), aborted]);
  } catch (error) {
    throw failure('Compaction.Failed', `the compactor failed: ${messageOf(error)}`, { cause: error });
  }
}
