import { z } from 'zod';
import { MODEL_LIMITS } from '../../contracts/constants/limits.js';
import { Message } from '../../contracts/schemas/message.js';
import { estimateTokens } from '../../contracts/text/estimate-tokens.js';
import type { CompactorContext, CustomCompactor } from '../../define/agent/compactor.js';
import { failure, messageOf } from '../runtime/failures.js';

/** The input of the config's compactor. It gets a copy of the messages. */
export type CustomCompaction = Omit<CompactorContext, 'messages'> & { readonly messages: readonly Message[] };

/**
 * Runs the config's compactor and validates its messages. Throws `Compaction.Failed` when it throws or times out, and when it returns
 * anything but messages that are shorter than its input.
 */
export async function runCustomCompactor(compactor: CustomCompactor, given: CustomCompaction): Promise<Message[]> {
  // a copy, because this worker caches these messages by their hashes
  const context = { ...given, messages: structuredClone([...given.messages]) };
  const made = await callCompactor(compactor, context);
  const checked = z.array(Message).safeParse(made);
  if (!checked.success) throw failure('Compaction.Failed', `the compactor returned no messages: ${z.prettifyError(checked.error)}`);
  const bytes = Buffer.byteLength(JSON.stringify(checked.data));
  if (bytes > MODEL_LIMITS.answerBytesMax) {
    throw failure('Compaction.Failed', `the compactor returned ${bytes} bytes; the limit is ${MODEL_LIMITS.answerBytesMax}`);
  }
  if (estimateTokens(checked.data) >= estimateTokens(given.messages)) {
    throw failure('Compaction.Failed', 'the compactor returned messages that are no shorter than its input');
  }
  return checked.data;
}

/** Calls the compactor. One that ignores its signal is not awaited. */
async function callCompactor(compactor: CustomCompactor, context: CompactorContext): Promise<unknown> {
  const { signal } = context;
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error('it exceeded its time limit'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    // wrapped, so that a synchronous throw is raced too: otherwise the rejection of `aborted` would be unhandled
    return await Promise.race([(async () => compactor(context))(), aborted]);
  } catch (error) {
    throw failure('Compaction.Failed', `the compactor failed: ${messageOf(error)}`, { cause: error });
  }
}
