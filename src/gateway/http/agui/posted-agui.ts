import { z } from 'zod';
import type { SendInput, SentPart } from '../../../contracts/schemas/session.js';
import { HttpError } from '../access/http-error.js';
import { contentOfParts } from '../chat/posted-chat.js';

const PostedMessage = z.looseObject({ id: z.string(), role: z.string() });
type PostedMessage = z.output<typeof PostedMessage>;

/** `RunAgentInput` of AG-UI 1.0. Only the newest message of the user counts. */
export const AgUiBody = z.strictObject({
  threadId: z.string().describe('Id of the conversation: the key of its session'),
  runId: z.string().describe('Id of the request; the events have it'),
  messages: z.array(PostedMessage).min(1).describe('Messages of the client: the newest one with the role `user` is sent, once for its id'),
  protocolVersion: z.string().optional().describe('Ignored'),
  parentRunId: z.string().optional().describe('Ignored'),
  state: z.unknown().optional().describe('Ignored'),
  context: z.array(z.unknown()).optional().describe('Ignored'),
  forwardedProps: z.unknown().optional().describe('Ignored'),
  tools: z.array(z.unknown()).optional().describe('Empty: the tools are those of the agent'),
  resume: z.array(z.unknown()).optional().describe('Empty: approvals have a route of their own'),
});
export type AgUiBody = z.output<typeof AgUiBody>;

/** What a request of an AG-UI client asks for. */
export interface PostedInput {
  readonly message: Pick<SendInput, 'text' | 'parts'> & { readonly id: string };
  /** The messages of the client up to that message. */
  readonly history: readonly PostedMessage[];
  /** The messages of the client behind it: an older form of the answer. */
  readonly answer: readonly PostedMessage[];
}

/** Reads the newest message of the user. Throws HttpError 422 for a body without one, and for one with tools or answers to interrupts. */
export function readInput({ messages, tools = [], resume = [] }: AgUiBody): PostedInput {
  if (tools.length > 0) throw new HttpError(422, 'CLIENT_TOOLS', 'tools: a client cannot add tools; give them to the agent');
  if (resume.length > 0)
    throw new HttpError(422, 'NO_INTERRUPT', 'resume: no run is interrupted; decide with POST /v1/runs/{id}/approvals/{callId}');
  const nth = messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[nth];
  if (!message) throw new HttpError(422, 'NO_NEW_MESSAGE', 'messages: one must have the role user');
  return { message: { id: message.id, ...contentOf(message) }, history: messages.slice(0, nth + 1), answer: messages.slice(nth + 1) };
}

const UserContent = z.union([
  z.string(),
  z.array(
    z.union([
      z.looseObject({ type: z.literal('text'), text: z.string() }),
      z.looseObject({
        type: z.enum(['image', 'audio', 'video', 'document']),
        source: z.looseObject({ type: z.enum(['data', 'url', 'file']), value: z.string(), mimeType: z.string().optional() }),
      }),
    ]),
  ),
]);
type UserPart = Exclude<z.output<typeof UserContent>, string>[number];

function contentOf({ content }: PostedMessage): Pick<SendInput, 'text' | 'parts'> {
  const { data } = UserContent.safeParse(content);
  if (data === undefined)
    throw new HttpError(422, 'BAD_MESSAGE', 'messages: the content of the user is a text, or a list of texts and files');
  return typeof data === 'string' ? { text: data } : contentOfParts(data.map(sentPart));
}

function sentPart(part: UserPart): SentPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { type, value, mimeType } = part.source;
  // the gateway fetches no address that a client names
  if (type !== 'data' || mimeType === undefined || !/^[A-Za-z0-9+/=]*$/u.test(value)) {
    throw new HttpError(422, 'REMOTE_FILE', 'messages: send a file as a source of type data, in base64, with its mimeType');
  }
  return { type: 'file', mime: mimeType, dataBase64: value };
}
