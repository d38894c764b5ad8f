import { WireRefusal } from '../../format/format-server.js';
import type { AnthropicBlock, AnthropicMessage, AnthropicRequest } from './request.js';

const CACHE_MARKS_MAX = 4;

type BlockOf<Type extends AnthropicBlock['type']> = Extract<AnthropicBlock, { type: Type }>;

/**
 * The rules of messages that no schema tells: roles in turn, no empty text, each tool use with its result in the very next message.
 * Throws a WireRefusal in the API's words.
 */
export function checkAnthropicRules(request: AnthropicRequest): void {
  checkRoles(request.messages);
  for (const [index, message] of request.messages.entries()) checkContent(message, index, request.messages.length);
  checkPairs(request.messages);
  checkTools(request);
  checkCacheMarks(request);
}

/** The content of a message as blocks. */
export function blocksOf(message: AnthropicMessage): readonly AnthropicBlock[] {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
}

/** The hosted API merges messages of one role; platforms that resell it refuse them, so that a client must not rely on it. */
function checkRoles(messages: readonly AnthropicMessage[]): void {
  const [first] = messages;
  if (!first) throw refuse('messages: at least one message is required');
  if (first.role !== 'user') throw refuse('messages: first message must use the "user" role');
  const repeated = messages.find((message, index) => message.role === messages[index - 1]?.role);
  if (!repeated) return;
  const rule = 'messages: roles must alternate between "user" and "assistant"';
  throw refuse(`${rule}, but found multiple "${repeated.role}" roles in a row`);
}

function checkContent(message: AnthropicMessage, index: number, length: number): void {
  const blocks = blocksOf(message);
  const isLast = index === length - 1;
  if (message.content.length === 0 && !(isLast && message.role === 'assistant')) {
    throw refuse(`messages.${index}: all messages must have non-empty content except for the optional final assistant message`);
  }
  for (const [at, block] of blocks.entries()) checkBlock(block, message.role, `messages.${index}.content.${at}`);
  const last = blocks.at(-1);
  if (isLast && message.role === 'assistant' && last?.type === 'text' && last.text !== last.text.trimEnd()) {
    throw refuse('messages: final assistant content cannot end with trailing whitespace');
  }
}

function checkBlock(block: AnthropicBlock, role: AnthropicMessage['role'], path: string): void {
  const message = path.split('.content')[0];
  if (block.type === 'text' && block.text === '') throw refuse('messages: text content blocks must be non-empty');
  if (block.type === 'text' && block.text.trim() === '') throw refuse('messages: text content blocks must contain non-whitespace text');
  if (block.type === 'tool_use' && role !== 'assistant')
    throw refuse(`${message}: \`tool_use\` blocks can only be in \`assistant\` messages`);
  if (block.type === 'tool_result' && role !== 'user') throw refuse(`${message}: \`tool_result\` blocks can only be in \`user\` messages`);
  if (block.type === 'thinking' && role !== 'assistant')
    throw refuse(`${message}: \`thinking\` blocks can only be in \`assistant\` messages`);
}

function checkPairs(messages: readonly AnthropicMessage[]): void {
  for (const [index, message] of messages.entries()) {
    const uses = blocksOfType(message, 'tool_use').map((block) => block.id);
    if (new Set(uses).size < uses.length) throw refuse(`messages.${index}: \`tool_use\` ids must be unique`);
    const next = messages[index + 1];
    checkAnswered(uses, next ? leadingResults(next) : [], index);
    const previous = messages[index - 1];
    checkResults(message, index, new Set(previous ? blocksOfType(previous, 'tool_use').map((block) => block.id) : []));
  }
}

/** Results count only at the beginning of a message: text before them is refused like a missing result. */
function leadingResults(message: AnthropicMessage): string[] {
  const blocks = blocksOf(message);
  const end = blocks.findIndex((block) => block.type !== 'tool_result');
  return blocks.slice(0, end === -1 ? blocks.length : end).flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
}

function checkAnswered(uses: readonly string[], results: readonly string[], index: number): void {
  const missing = uses.filter((id) => !results.includes(id));
  if (missing.length === 0) return;
  const found = `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`;
  throw refuse(`${found}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`);
}

function checkResults(message: AnthropicMessage, index: number, uses: ReadonlySet<string>): void {
  const seen = new Set<string>();
  for (const [at, block] of blocksOf(message).entries()) {
    if (block.type !== 'tool_result') continue;
    const path = `messages.${index}.content.${at}`;
    const id = block.tool_use_id;
    if (!uses.has(id)) {
      const found = `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`;
      throw refuse(`${found}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`);
    }
    if (seen.has(id))
      throw refuse(`${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`);
    seen.add(id);
  }
}

function checkTools({ messages, tools, tool_choice }: AnthropicRequest): void {
  const hasToolBlocks = messages.some((message) =>
    blocksOf(message).some((block) => block.type === 'tool_use' || block.type === 'tool_result'),
  );
  if (hasToolBlocks && !tools?.length) throw refuse('Requests which include `tool_use` or `tool_result` blocks must define tools');
  if (tool_choice && !tools?.length) throw refuse('tool_choice may only be specified while providing tools');
  const names = (tools ?? []).map((tool) => tool.name);
  if (new Set(names).size < names.length) throw refuse('tools: Tool names must be unique.');
}

function checkCacheMarks({ messages, tools = [], system, cache_control }: AnthropicRequest): void {
  const blocks = [...tools, ...(typeof system === 'object' ? system : []), ...messages.flatMap(blocksOf), { cache_control }];
  const found = blocks.filter((block) => 'cache_control' in block && block.cache_control).length;
  if (found > CACHE_MARKS_MAX) throw refuse(`A maximum of ${CACHE_MARKS_MAX} blocks with cache_control may be provided. Found ${found}.`);
}

function blocksOfType<Type extends AnthropicBlock['type']>(message: AnthropicMessage, type: Type): BlockOf<Type>[] {
  return blocksOf(message).filter((block): block is BlockOf<Type> => block.type === type);
}

function refuse(message: string): WireRefusal {
  return new WireRefusal(400, message);
}
