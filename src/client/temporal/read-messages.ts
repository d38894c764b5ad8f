import { QueryNotRegisteredError, type WorkflowHandle } from '@temporalio/client';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { transcript as transcriptQuery, unread as unreadQuery } from '../../contracts/handlers.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { PagePart, PageRequest, UnreadMessage } from '../../contracts/schemas/page.js';
import type { TemporalAccess } from './connection.js';

/** A page of messages as queries answer it. */
interface MessagePage<Entry> {
  readonly next: number;
  readonly length: number;
  readonly messages: readonly Entry[];
  readonly part?: PagePart;
}

/** Where to begin, and how large a page may be. */
interface ReadOptions {
  readonly from?: number;
  readonly bytesMax?: number;
}

/** A message that changes while it is read is read again, this often. */
const ATTEMPTS_MAX = 5;

/** Yields pages of whole messages: the parts of a message that is larger than a page are joined. Throws as the query does. */
export async function* readPages<Entry, Page extends MessagePage<Entry>>(
  ask: (request: PageRequest) => Promise<Page>,
  { from = 0, bytesMax = PAYLOAD_LIMITS.outsideBytesMax }: ReadOptions = {},
): AsyncGenerator<Page> {
  for (let at = from; ; ) {
    const page = await readPage<Entry, Page>((offset) => ask({ from: at, bytesMax, offset }));
    if (page.messages.length > 0) yield page;
    if (page.messages.length === 0 || page.next >= page.length) return;
    at = page.next;
  }
}

/**
 * All messages that a run worked on: those of a session's earlier runs, which it refers to, and its own transcript. Throws `NO_WORKER`, and
 * `RUN_NOT_FOUND` if the server no longer has an earlier run.
 */
export async function readTranscript(access: TemporalAccess, handle: WorkflowHandle): Promise<Message[]> {
  const messages: Message[] = [];
  const { inherits } = await ask({ from: 0, to: 0 });
  if (inherits) messages.push(...(await readTranscript(access, access.client.workflow.getHandle(inherits.runId, inherits.executionId))));
  for await (const page of readPages<Message, Awaited<ReturnType<typeof ask>>>(ask)) messages.push(...page.messages);
  return messages;

  function ask(request: PageRequest) {
    return access.queryReplayed(handle, transcriptQuery, request);
  }
}

/**
 * The messages of a run that were accepted and not delivered, whole. Undefined for a run whose worker has a version before this query.
 * Throws `NO_WORKER`.
 */
export async function readUnread(access: TemporalAccess, handle: WorkflowHandle): Promise<UnreadMessage[] | undefined> {
  const messages: UnreadMessage[] = [];
  try {
    for await (const page of readPages<UnreadMessage, Awaited<ReturnType<typeof ask>>>(ask)) messages.push(...page.messages);
  } catch (error) {
    if (error instanceof QueryNotRegisteredError) return undefined;
    throw error;
  }
  return messages;

  function ask(request: PageRequest) {
    return access.queryReplayed(handle, unreadQuery, request);
  }
}

async function readPage<Entry, Page extends MessagePage<Entry>>(ask: (offset: number) => Promise<Page>): Promise<Page> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    let page = await ask(0);
    let text = '';
    // the messages of an open run may change between two parts: a part must begin where the one before it ended
    while (page.part && page.part.offset === text.length && page.part.next > text.length) {
      text += page.part.text;
      // the workflow wrote the JSON of one entry
      if (text.length === page.part.length) return { ...page, messages: [JSON.parse(text) as Entry] };
      page = await ask(text.length);
    }
    if (!page.part && text === '') return page;
  }
  throw new Error(`a message changed ${ATTEMPTS_MAX} times while it was read`);
}
