import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Right } from '../../../../src/contracts/access/token-grant.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import type { TokenEntry } from '../../../../src/gateway/http/access/tokens.js';
import { ModelError } from '../../../../src/providers/contract/model-error.js';
import type { ModelAnswer, ModelRequest } from '../../../../src/providers/contract/provider.js';
import { lastTextOf, say } from '../../../support/agent-worker.js';

/** The entry of a token of a tenant. */
export function entry(token: string, tenant: string, rights: readonly Right[] = Right.options): TokenEntry {
  return { tokenSha256: createHash('sha256').update(token).digest('hex'), tenant, rights: [...rights] };
}

/** Streams a text in words, and answers with it. */
export function words(request: ModelRequest, text: string, answer: ModelAnswer = say(text)): ModelAnswer {
  for (const word of text.split(/(?<= )/u)) request.onDelta?.({ type: 'text', text: word });
  return answer.parts[0]?.type === 'text' ? answer : { ...answer, parts: [{ type: 'text', text }, ...answer.parts] };
}

/** A model that says `first `, waits, and then says the rest of `first and last`. */
export function inHalves(opened: Promise<void>): (request: ModelRequest) => Promise<ModelAnswer> {
  return async (request) => {
    request.onDelta?.({ type: 'text', text: 'first ' });
    await opened;
    return words(request, 'and last', say('first and last'));
  };
}

/** A model that fails if the message is `fail`. Otherwise it says `half`, and answers no more until its run is cancelled. */
export async function failOrHang(request: ModelRequest): Promise<ModelAnswer> {
  if (lastTextOf(request) === 'fail') throw new ModelError('Model.Auth', 'no key');
  request.onDelta?.({ type: 'text', text: 'half' });
  return await new Promise<never>((_resolve, reject) => {
    request.signal.addEventListener('abort', () => reject(new Error('aborted')));
  });
}

/** A tool that runs without approval. */
export const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks up an order.',
  parameters: z.object({ order: z.number() }),
  effect: 'read',
  execute: ({ order }) => `order ${order} is sent`,
});

/** A tool that needs approval. */
export const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  parameters: z.object({ order: z.number() }),
  effect: 'once',
  approval: 'always',
  execute: ({ order }) => `refunded ${order}`,
});
