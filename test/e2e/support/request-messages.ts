import type { RecordedRequest } from '../../../src/testing/index.js';

/** The messages of a request, in the wire format they came in. Throws when there was no such request. */
export function messagesOf(request: RecordedRequest | undefined): unknown {
  const { body } = request ?? {};
  if (body !== null && typeof body === 'object' && 'messages' in body) return body.messages;
  if (body !== null && typeof body === 'object' && 'input' in body) return body.input;
  throw new Error('there was no such request');
}
