import type { TranscriptRef } from '../../contracts/activities.js';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { type ChainHead, EMPTY_CHAIN } from '../../contracts/digest.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { TranscriptPage } from '../../contracts/schemas/page.js';

import { failure } from '../runtime/failures.js';
import { hashMessage } from './message-hash.js';
import { type PatienceOptions, patientQuery } from './query-with-retry.js';
import type { TranscriptCache } from './transcript-cache.js';

/** Queries a page of a run's transcript (query `transcript`). */
export type TranscriptQuery = (
  ref: Pick<TranscriptRef, 'runId' | 'executionId'>,
  request: { readonly from: number; readonly to: number; readonly bytesMax: number },
) => Promise<TranscriptPage>;

/** The dependencies of reading a transcript. */
export interface ReadTranscriptOptions extends PatienceOptions {
  readonly cache: TranscriptCache;
  readonly query: TranscriptQuery;
}

/**
 * The messages of a reference: from the cache where it has them, else queried in pages from the workflow. Throws `Transcript.Unavailable`
 * when the query fails for too long, and `Transcript.Moved` when the digest of the queried messages differs.
 */
export async function readTranscript(ref: TranscriptRef, options: ReadTranscriptOptions): Promise<Message[]> {
  const base = await readBase(ref, options);
  const messages = (base && (await appendTail(ref, base, options))) ?? (await readAll(ref, options));
  options.cache.keepHead(ref.executionId, { length: messages.length, digest: ref.digest });
  return messages;
}

/** Reads the whole transcript once, after the cached messages did not lead to the digest. */
async function readAll(ref: TranscriptRef, options: ReadTranscriptOptions): Promise<Message[]> {
  const all = await readPages(ref, { from: 0, to: ref.base.length + ref.tail.length }, options);
  if (link(EMPTY_CHAIN, all, options.cache).digest === ref.digest) return all;
  throw failure('Transcript.Moved', `the transcript of ${ref.runId} is not the one this call refers to`);
}

/** Reads the base from the cache. Missing messages are queried: those since this worker's newest known head, else from the beginning. */
async function readBase(ref: TranscriptRef, options: ReadTranscriptOptions): Promise<Message[] | undefined> {
  const { known, until } = options.cache.walkBack(ref.base);
  if (until.length === 0) return known;
  const seen = options.cache.head(ref.executionId);
  const before = options.cache.walkBack(seen);
  const usable = seen.length < until.length && before.until.length === 0;
  const from = usable ? seen : EMPTY_CHAIN;
  const missing = await readPages(ref, { from: from.length, to: until.length }, options);
  if (link(from, missing, options.cache).digest !== until.digest) return undefined;
  return [...(usable ? before.known : []), ...missing, ...known];
}

async function appendTail(ref: TranscriptRef, base: Message[], options: ReadTranscriptOptions): Promise<Message[] | undefined> {
  const messages = [...base];
  let head: ChainHead = ref.base;
  for (const item of ref.tail) {
    const message = 'message' in item ? item.message : options.cache.message(item.hash);
    if (!message) break;
    messages.push(message);
    head = options.cache.keepLink(head, message, 'message' in item ? hashMessage(item.message) : item.hash);
  }
  if (head.digest === ref.digest) return messages;
  const rest = await readPages(ref, { from: head.length, to: ref.base.length + ref.tail.length }, options);
  return link(head, rest, options.cache).digest === ref.digest ? [...messages, ...rest] : undefined;
}

function link(from: ChainHead, messages: readonly Message[], cache: TranscriptCache): ChainHead {
  let head = from;
  for (const message of messages) {
    const hash = hashMessage(message);
    cache.keepMessage(hash, message);
    head = cache.keepLink(head, message, hash);
  }
  return head;
}

async function readPages(ref: TranscriptRef, range: { from: number; to: number }, options: ReadTranscriptOptions): Promise<Message[]> {
  const messages: Message[] = [];
  for (let { from } = range; from < range.to; ) {
    const request = { from, to: range.to, bytesMax: PAYLOAD_LIMITS.outsideBytesMax };
    const page = await patientQuery(ref.runId, () => options.query(ref, request), options);
    if (page.messages.length === 0) break;
    messages.push(...page.messages);
    from = page.next;
  }
  return messages;
}
