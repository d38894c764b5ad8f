import type { RunHandle } from '../../../client/run-handle.js';
import type { SessionHandle } from '../../../client/session-handle.js';
import { SESSION_LIMITS } from '../../../contracts/constants/limits.js';
import { isNoSuchRun, isPassing } from '../access/http-error.js';
import type { Cursor } from '../events/cursor.js';
import { eventsOfRun } from '../events/event-stream.js';
import type { Feeds } from '../events/feeds.js';
import type { SentEvent } from '../events/sent-event.js';
import type { StreamClient } from '../events/stream-client.js';
import type { Gateway } from '../routing/gateway.js';
import type { Answer } from '../routing/route.js';
import { AnswerWriter } from './answer-writer.js';
import { awaitRunOf } from './chat-run.js';
import { DONE, framesOf, UI_STREAM_HEADERS, type UiChunk } from './ui-chunk.js';

/** The protocol in which an answer is streamed. */
export interface AnswerFormat {
  readonly headers?: Readonly<Record<string, string>>;
  /** True: the stream continues while a person decides about a call. */
  readonly isWhole: boolean;
  /** Encodes chunks. Called with each chunk of the answer once, in their order: it may keep a state. */
  readonly encode: (chunks: readonly UiChunk[]) => Buffer;
  /** What follows the last chunk. @default nothing */
  readonly end?: Buffer;
}

/** The AI SDK's UI message stream. */
export const UI_FORMAT: AnswerFormat = { headers: UI_STREAM_HEADERS, isWhole: false, encode: framesOf, end: DONE };

/** The chat whose answer is streamed. */
interface StreamedChat {
  readonly session: SessionHandle;
  readonly runOf: (runId: string) => RunHandle;
  readonly feeds: Feeds;
  readonly format: AnswerFormat;
}

/** The answer to stream: of a message, or of a run. `fromTurn`: the client has the steps before this turn. */
export type StreamedAnswer = { readonly messageId: string } | { readonly runId: string; readonly fromTurn?: number };

/**
 * The response that streams an answer, from its beginning. A stream that cannot reach its end disconnects the client: a body that ends
 * without an error would be a whole answer to it.
 */
export function answerStream(
  { door, feeds }: Gateway,
  { answer, session, format }: { readonly answer: StreamedAnswer; readonly session: SessionHandle; readonly format: AnswerFormat },
): Extract<Answer, { stream: unknown }> {
  const chat: StreamedChat = { session, runOf: (runId) => door.client.get(runId), feeds, format };
  return {
    async stream(client) {
      try {
        if (!(await writeAnswer(chat, answer, client))) client.drop();
      } catch (error) {
        client.drop();
        throw error;
      }
    },
    ...(format.headers ? { headers: format.headers } : {}),
  };
}

/** True if the answer was sent to its end. */
async function writeAnswer(chat: StreamedChat, answer: StreamedAnswer, client: StreamClient): Promise<boolean> {
  if ('runId' in answer) return await writeRun(chat, answer, client);
  const place = await awaitRunOf(answer.messageId, chat.session, { client, isOver: () => chat.feeds.isClosed });
  if (!place) return false;
  if ('runId' in place) return await writeRun(chat, place, client);
  await client.send(chat.format.encode([{ type: 'error', errorText: `the message was dropped: ${place.dropped}` }]));
  await sendEnd(chat.format, client);
  return true;
}

async function writeRun(
  { runOf, feeds, format }: StreamedChat,
  { runId, fromTurn }: { readonly runId: string; readonly fromTurn?: number },
  client: StreamClient,
): Promise<boolean> {
  const run = runOf(runId);
  let start: Cursor = { event: 0 };
  let writer: AnswerWriter | undefined;
  for (let missed = 0; missed < MISSED_MAX && !client.hasLeft && !feeds.isClosed; ) {
    try {
      for await (const { event, cursor } of eventsOfRun(run, feeds, { start, client })) {
        // the transcript is shared once the feed is joined
        writer ??= new AnswerWriter(
          { runId, messages: feeds.messagesOf(run), approvals: () => run.approvals() },
          { fromTurn, isWhole: format.isWhole },
        );
        if (!(await take(writer, event, { client, feeds }))) return false;
        start = cursor;
        await client.send(format.encode(writer.drain()));
        if (!writer.isOver) continue;
        await sendEnd(format, client);
        return true;
      }
    } catch (error) {
      if (isNoSuchRun(error)) missed += 1;
      else if (!isPassing(error)) throw error;
    }
    await client.pause(SESSION_LIMITS.followEveryMs);
  }
  return false;
}

async function sendEnd({ end }: AnswerFormat, client: StreamClient): Promise<void> {
  if (end) await client.send(end);
}

/** A run whose start is on its way to the server is there by then. */
const MISSED_MAX = 10;

/** Takes an event, once a worker answers. False if the client left, or the gateway ends. */
async function take(
  writer: AnswerWriter,
  event: SentEvent,
  { client, feeds }: { readonly client: StreamClient; readonly feeds: Feeds },
): Promise<boolean> {
  while (!client.hasLeft && !feeds.isClosed) {
    try {
      await writer.take(event);
      return true;
    } catch (error) {
      if (!isPassing(error)) throw error;
      await client.pause(SESSION_LIMITS.followEveryMs);
    }
  }
  return false;
}
