import { hashJson } from '../../../contracts/digest.js';
import { WireRefusal } from '../../format/format-server.js';
import type { AnthropicBlock, AnthropicMessage, AnthropicRequest } from './request.js';
import { blocksOf } from './rules.js';

/**
 * The rules of thinking that no schema tells: room for an answer, no forced call, an answer to results that begins as it began, and
 * blocks as they were signed, after what they were bound to. Throws a WireRefusal in the API's words.
 */
export function checkThinkingRules(request: AnthropicRequest): void {
  checkBudget(request);
  checkFirstBlock(request);
  checkLastMessage(request);
  checkSignatures(request);
}

/** What newer models bind their thinking to: all that they read. Undefined for requests of models that bind none. */
export function boundPrefix(request: AnthropicRequest): string | undefined {
  return request.thinking?.type === 'adaptive' ? prefixBefore(request, request.messages) : undefined;
}

function checkBudget({ thinking, max_tokens, tool_choice }: AnthropicRequest): void {
  if (thinking?.type === 'enabled' && thinking.budget_tokens >= max_tokens) {
    throw refuse('`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
  const thinks = thinking !== undefined && thinking.type !== 'disabled';
  if (thinks && (tool_choice?.type === 'any' || tool_choice?.type === 'tool')) {
    throw refuse('Thinking may not be enabled when tool_choice forces tool use.');
  }
}

/** Models that are told a budget: what they think belongs to the results they asked for. */
function checkFirstBlock({ thinking, messages }: AnthropicRequest): void {
  const last = messages.at(-1);
  const asked = messages.at(-2);
  if (thinking?.type !== 'enabled' || !last || !asked || blocksOf(last)[0]?.type !== 'tool_result') return;
  const first = blocksOf(asked)[0]?.type;
  if (first === 'thinking' || first === 'redacted_thinking') return;
  const found = `messages.${messages.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\``;
  throw refuse(`${found}. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`);
}

function checkLastMessage({ thinking, messages }: AnthropicRequest): void {
  const last = messages.at(-1);
  if (thinking?.type !== 'disabled' || last?.role !== 'assistant') return;
  const at = blocksOf(last).findIndex(isThinking);
  if (at === -1) return;
  const rule = 'When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.';
  throw refuse(`messages.${messages.length - 1}.content.${at}: ${rule}`);
}

function checkSignatures(request: AnthropicRequest): void {
  for (const [index, message] of request.messages.entries()) {
    const blocks = blocksOf(message);
    for (const [at, block] of blocks.entries()) {
      if (block.type !== 'thinking' || block.signature === signatureOf(block.thinking)) continue;
      // two answers without a word between them come in one message: a block is bound to what came before its own
      const begun = blocks.slice(0, at + 1).map((_, length) => ({ ...message, content: blocks.slice(0, length) }));
      const prefixes = begun.map((answer) => prefixBefore(request, [...request.messages.slice(0, index), answer]));
      if (prefixes.some((prefix) => block.signature === signatureOf(block.thinking, prefix))) continue;
      const path = `messages.${index}.content.${at}`;
      throw refuse(`${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation.`);
    }
  }
}

/** Marks of what to keep are no part of it, nor is where a message ends. */
function prefixBefore({ system, tools }: AnthropicRequest, messages: readonly AnthropicMessage[]): string {
  const blocks = messages.flatMap((message) => blocksOf(message).map((block) => [message.role, block]));
  return hashJson(JSON.parse(JSON.stringify([system, tools, blocks], withoutMarks)));
}

function withoutMarks(key: string, value: unknown): unknown {
  return key === 'cache_control' ? undefined : value;
}

function isThinking({ type }: AnthropicBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function refuse(message: string): WireRefusal {
  return new WireRefusal(400, message);
}

/**
 * The signature the wire server gives a thinking text. Sent back with another text, or after anything else than what it was bound to, it
 * is refused as the API refuses it.
 */
export function signatureOf(thinking: string, boundTo?: string): string {
  return Buffer.from(hashJson(boundTo === undefined ? thinking : [thinking, boundTo])).toString('base64');
}
