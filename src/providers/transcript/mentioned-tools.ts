import { toolCallsOf } from '../../contracts/message-text.js';
import type { ModelRequest } from '../contract/provider.js';

const DESCRIPTION = 'A tool of an earlier part of this conversation. It is not there any more.';

/**
 * The request as Claude takes it: with calls in the transcript it must name tools. Where none are offered, of an agent that goes on with
 * another one's transcript, say, those that were called are named, and none may be called.
 */
export function withCalledTools<Request extends Pick<ModelRequest, 'tools' | 'messages' | 'toolChoice'>>(request: Request): Request {
  if (request.tools.length > 0) return request;
  const called = new Set(request.messages.flatMap(toolCallsOf).map(({ name }) => name));
  if (called.size === 0) return request;
  const tools = [...called].toSorted().map((name) => ({ name, description: DESCRIPTION, schema: { type: 'object' } }));
  return { ...request, tools, toolChoice: 'none' };
}
