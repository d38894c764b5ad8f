import { z } from 'zod';
import { QUEUE_MODES } from '../../../contracts/constants/queue-modes.js';
import type { SendInput, SentPart } from '../../../contracts/schemas/session.js';
import { HttpError } from '../access/http-error.js';

const PostedMessage = z.looseObject({
  id: z.string(),
  role: z.enum(['user', 'assistant', 'system']),
  parts: z.array(z.looseObject({ type: z.string() })),
});
type PostedMessage = z.output<typeof PostedMessage>;

/** The body that `useChat` sends. Only the last message counts, and the decisions in the assistant message before or at the end. */
export const ChatBody = z.strictObject({
  id: z.string().describe('Id of the chat: the key of its session'),
  messages: z.array(PostedMessage).min(1).describe('Messages of the page: the last one is new, the others are ignored'),
  trigger: z.enum(['submit-message', 'regenerate-message']).optional().describe('What the page did; default: `submit-message`'),
  messageId: z.string().optional().describe('The message that the page replaces or continues'),
  agent: z.string().optional().describe('Name of the agent, when the message starts the session'),
  queue: z.enum(QUEUE_MODES).optional().describe('What happens while a run is active; default: that of the session'),
});
export type ChatBody = z.output<typeof ChatBody>;

/** A decision of the person at the page. */
export interface PostedDecision {
  readonly callId: string;
  readonly approved: boolean;
  readonly reason?: string;
}

/** What is new in a posted chat: a message, decisions about calls, or both. */
export interface PostedNews {
  readonly message?: SendInput & { readonly id: string };
  /** True if the page asks for another answer, or replaces a message that it sent. */
  readonly isAgain: boolean;
  /** Id of the assistant message with the decisions. */
  readonly answerId?: string;
  readonly decisions: readonly PostedDecision[];
}

/**
 * Reads what is new. The history in the body is that of the page, and counts for nothing: the conversation is that of the session. Throws
 * HttpError 422 for a body without news, and for a message that is not made of texts and files.
 */
export function readNews({ messages, trigger, messageId, queue }: ChatBody): PostedNews {
  const last = messages.at(-1);
  const answer = messages.findLast(({ role }) => role === 'assistant');
  const decisions = answer ? decisionsIn(answer) : [];
  if (last?.role === 'user') {
    const isAgain = trigger === 'regenerate-message' || messageId === last.id;
    return {
      message: { id: last.id, ...contentOf(last), ...(queue === undefined ? {} : { queue }) },
      isAgain,
      ...(answer && decisions.length > 0 ? { answerId: answer.id } : {}),
      decisions,
    };
  }
  if (answer === undefined || answer !== last || decisions.length === 0) {
    throw new HttpError(422, 'NO_NEW_MESSAGE', 'messages: the last one must be of the user, or have decisions about tool calls');
  }
  return { isAgain: false, answerId: answer.id, decisions };
}

/** A call in the state that `addToolApprovalResponse` gives it. */
const DecidedCall = z.looseObject({
  type: z.string().regex(/^(?:tool-|dynamic-tool$)/u),
  toolCallId: z.string(),
  state: z.literal('approval-responded'),
  approval: z.looseObject({ approved: z.boolean(), reason: z.string().optional() }),
});

function decisionsIn({ parts }: PostedMessage): PostedDecision[] {
  return parts.flatMap((part) => {
    const { data } = DecidedCall.safeParse(part);
    if (!data) return [];
    const { approved, reason } = data.approval;
    return [{ callId: data.toolCallId, approved, ...(reason === undefined ? {} : { reason }) }];
  });
}

const UserPart = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('file'), mediaType: z.string(), url: z.string() }),
]);

function contentOf({ parts }: PostedMessage): Pick<SendInput, 'text' | 'parts'> {
  return contentOfParts(parts.map(sentPart));
}

/** The content of a message that has these parts: one text, if it has no files. */
export function contentOfParts(sent: SentPart[]): Pick<SendInput, 'text' | 'parts'> {
  const texts = sent.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === sent.length ? { text: texts.join('\n\n') } : { parts: sent };
}

function sentPart(part: PostedMessage['parts'][number]): SentPart {
  const { data } = UserPart.safeParse(part);
  if (!data) throw new HttpError(422, 'BAD_MESSAGE', 'messages: a message of the user has parts of type text and file');
  if (data.type === 'text') return { type: 'text', text: data.text };
  // the gateway fetches no address that a page names
  const { mime, base64 } = /^data:(?<mime>[^;,]*);base64,(?<base64>[A-Za-z0-9+/=]*)$/u.exec(data.url)?.groups ?? {};
  if (base64 === undefined) throw new HttpError(422, 'REMOTE_FILE', 'messages: send a file as a data: URL in base64');
  return { type: 'file', mime: mime || data.mediaType, dataBase64: base64 };
}
