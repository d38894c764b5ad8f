import type { TranscriptRef } from '../../contracts/activities.js';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { type ChainHead, EMPTY_CHAIN } from '../../contracts/digest.js';
import type { Conversation } from '../../contracts/schemas/conversation.js';
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
  const seen = seenHead(ref, options.cache);
  const before = options.cache.walkBack(seen);
  const usable = seen.length < until.length && before.until.length === 0;
  const from = usable ? seen : EMPTY_CHAIN;
  const missing = await readPages(ref, { from: from.length, to: until.length }, options);
  if (link(from, missing, options.cache).digest !== until.digest) return undefined;
  return [...(usable ? before.known : []), ...missing, ...known];
}

/** The newest head of a run that this worker knows: at the beginning of a run of a session, that of the run before it. */
function seenHead({ executionId, inherits }: TranscriptRef, cache: TranscriptCache): ChainHead {
  const seen = cache.head(executionId);
  return seen.length === 0 && inherits ? cache.head(inherits.executionId) : seen;
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

/** What locates the messages of a run: the run, and the conversation before its own messages. */
type Located = Pick<TranscriptRef, 'runId' | 'executionId' | 'inherits'>;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Reads messages by their positions in the whole transcript: those of an inherited conversation from the earlier runs. */
async function readPages(ref: Located, { from, to }: Range, options: ReadTranscriptOptions): Promise<Message[]> {
  const before = ref.inherits?.length ?? 0;
  const earlier = ref.inherits && from < before ? await readEarlier(ref.inherits, { from, to: Math.min(to, before) }, options) : [];
  const own = { from: Math.max(0, from - before), to: to - before };
  return [...earlier, ...(own.to > own.from ? await readOwn(ref, own, options) : [])];
}

/** Reads from an earlier run of the session, which may refer to one before it. */
async function readEarlier({ runId, executionId }: Conversation, range: Range, options: ReadTranscriptOptions): Promise<Message[]> {
  const { inherits } = await patientQuery(
    runId,
    () => options.query({ runId, executionId }, { from: 0, to: 0, bytesMax: PAYLOAD_LIMITS.outsideBytesMax }),
    options,
  );
  return await readPages({ runId, executionId, ...(inherits ? { inherits } : {}) }, range, options);
}

async function readOwn(ref: Located, range: Range, options: ReadTranscriptOptions): Promise<Message[]> {
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
