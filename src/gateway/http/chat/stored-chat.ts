import type { RunHandle } from '../../../client/run-handle.js';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import type { Message } from '../../../contracts/schemas/message.js';
import type { SessionRun } from '../../../contracts/schemas/session.js';
import { isTask, type UiMessage, uiMessagesOf } from './stored-messages.js';

/** A run whose transcript is read. */
export type ReadRun = Pick<RunHandle, 'transcript'>;

/** The messages of a chat. */
export interface StoredChat {
  /** Oldest first. */
  readonly messages: UiMessage[];
  /** True if older messages are left out. */
  readonly truncated: boolean;
}

/** What may still be read. */
interface Room {
  readonly bytes: number;
  readonly messages: number;
}

/** The last messages of a run, from its task on. */
interface Tail {
  readonly messages: readonly Message[];
  readonly bytes: number;
  /** False if its oldest messages are left out. */
  readonly isWhole: boolean;
}

/**
 * The messages of these runs of a chat, oldest first, as far as `HTTP_LIMITS.chatBytesMax` and `chatMessagesMax` of their transcripts. The
 * newest runs are read first, each from its end, and nothing of what is left out. Throws `NO_WORKER`.
 */
export async function storedChat(runs: readonly SessionRun[], runOf: (runId: string) => ReadRun): Promise<StoredChat> {
  const messages: UiMessage[] = [];
  let room: Room = { bytes: HTTP_LIMITS.chatBytesMax, messages: HTTP_LIMITS.chatMessagesMax };
  for (const run of runs.toReversed()) {
    if (room.bytes <= 0 || room.messages <= 0) return { messages, truncated: true };
    const tail = await tailOf(runOf(run.runId), room);
    messages.unshift(...uiMessagesOf(run, tail.messages));
    if (!tail.isWhole) return { messages, truncated: true };
    room = { bytes: room.bytes - tail.bytes, messages: room.messages - tail.messages.length };
  }
  // the runs of a session are numbered from 1
  const [first] = runs;
  return { messages, truncated: first !== undefined && !first.runId.endsWith('/1') };
}

/** The end of a transcript, with its task if there is room. Empty for a run that the server no longer has. */
async function tailOf(run: ReadRun, room: Room): Promise<Tail> {
  try {
    const first = await firstPage(run);
    if (!first) return cut([], room);
    let { messages } = first;
    // most runs have one page; others are read from their end, because a conversation that the run copied is before its task
    for (let from = first.length; first.next < first.length && from > 0; ) {
      const to = from;
      from = Math.max(0, to - READ_AT_ONCE);
      const later = to === first.length ? [] : messages;
      messages = [...(await between(run, from, to)), ...later];
      const tail = cut(messages, room);
      if (!tail.isWhole || messages.some(isTask)) return tail;
    }
    return cut(messages, room);
  } catch (error) {
    if (!(error instanceof PerdureError) || error.code !== 'RUN_NOT_FOUND') throw error;
    return cut([], room);
  }
}

/** Messages that are read at once from the end of a transcript. */
const READ_AT_ONCE = 20;

async function firstPage(run: ReadRun): Promise<{ messages: readonly Message[]; next: number; length: number } | undefined> {
  for await (const page of run.transcript()) return page;
  return undefined;
}

async function between(run: ReadRun, from: number, to: number): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const page of run.transcript({ from })) {
    messages.push(...page.messages);
    if (page.next >= to) break;
  }
  return messages.slice(0, to - from);
}

/** The newest of these messages from the task on, as far as there is room. */
function cut(messages: readonly Message[], room: Room): Tail {
  const own = messages.slice(Math.max(0, messages.findLastIndex(isTask)));
  let bytes = 0;
  let count = 0;
  for (const message of own.toReversed()) {
    const size = Buffer.byteLength(JSON.stringify(message));
    if (bytes + size > room.bytes || count >= room.messages) break;
    bytes += size;
    count += 1;
  }
  return { messages: own.slice(own.length - count), bytes, isWhole: count === own.length };
}
