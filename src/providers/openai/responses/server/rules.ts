import { WireRefusal } from '../../../format/format-server.js';
import { itemsOf, type ResponsesItem, type ResponsesRequest } from './request.js';
import { comesAfter, encryptedReasoning } from './signature.js';

type ItemOf<Type extends ResponsesItem['type']> = Extract<ResponsesItem, { type: Type }>;

/** What ids of items begin with. */
const ID_PREFIXES: Readonly<Partial<Record<ResponsesItem['type'], string>>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fc',
};

/**
 * The rules of the Responses API that no schema tells: each call has its output and each output its call, reasoning comes back as it was
 * given and before what it led to, and nothing is found by an id alone, since nothing is kept. Throws a WireRefusal in the API's words.
 */
export function checkResponsesRules(request: ResponsesRequest): void {
  const items = itemsOf(request);
  checkOptions(request);
  checkIds(items);
  checkReasoning(items);
  checkCalls(items);
  checkTools(request);
}

function checkOptions({ input, stream, stream_options, previous_response_id, tools, tool_choice }: ResponsesRequest): void {
  if (previous_response_id) {
    throw refuse(`Previous response with id '${previous_response_id}' not found.`, 'previous_response_id', 'previous_response_not_found');
  }
  if (input === undefined || input.length === 0) {
    const message = 'One of "input" or "previous_response_id" or \'prompt\' or \'conversation_id\' must be provided.';
    throw refuse(message, 'input', 'missing_required_parameter');
  }
  if (stream_options && !stream) {
    throw refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options');
  }
  if (tool_choice && tool_choice !== 'auto' && !tools?.length) {
    throw refuse("Tool choices other than 'auto' must be specified with 'tools' parameter.", 'tool_choice');
  }
  if (tool_choice && typeof tool_choice === 'object' && !tools?.some(({ name }) => name === tool_choice.name)) {
    throw refuse(`Tool choice '${tool_choice.name}' not found in 'tools' parameter.`, 'tool_choice');
  }
}

function checkIds(items: readonly ResponsesItem[]): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const { id, type } = item;
    if (!id) continue;
    if (type === 'item_reference') throw refuseUnknownItem(id);
    const prefix = ID_PREFIXES[type] ?? '';
    if (!id.startsWith(prefix)) {
      throw refuse(
        `Invalid 'input[${index}].id': '${id}'. Expected an ID that begins with '${prefix}'.`,
        `input[${index}].id`,
        'invalid_value',
      );
    }
    if (seen.has(id)) throw refuse(`Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`, 'input');
    seen.add(id);
  }
}

function checkReasoning(items: readonly ResponsesItem[]): void {
  for (const [index, item] of items.entries()) {
    if (item.type !== 'reasoning') continue;
    if (!item.encrypted_content) throw refuseUnknownItem(item.id);
    if (item.encrypted_content !== encryptedReasoning(item.id, item.summary)) throw refuseEncrypted(item);
    const next = items.slice(index + 1).find(({ type }) => type !== 'reasoning');
    if (!isLedTo(item, next)) {
      throw refuse(`Item '${item.id}' of type 'reasoning' was provided without its required following item.`, 'input');
    }
  }
}

/** A call may come back without its id; a message is known by it. */
function isLedTo(reasoning: ItemOf<'reasoning'>, next: ResponsesItem | undefined): boolean {
  if (next?.type === 'function_call') return next.id === undefined || comesAfter(reasoning.id, next.id);
  return next?.type === 'message' && next.role === 'assistant' && next.id !== undefined && comesAfter(reasoning.id, next.id);
}

function checkCalls(items: readonly ResponsesItem[]): void {
  const open = new Set<string>();
  const called = new Set<string>();
  for (const item of items) {
    if (item.type === 'function_call') {
      if (called.has(item.call_id)) throw refuse(`Duplicate function call with call_id ${item.call_id}.`, 'input');
      called.add(item.call_id);
      open.add(item.call_id);
    }
    if (item.type === 'function_call_output' && !open.delete(item.call_id)) {
      throw refuse(`No tool call found for function call output with call_id ${item.call_id}.`, 'input');
    }
  }
  const [unanswered] = open;
  if (unanswered !== undefined) throw refuse(`No tool output found for function call ${unanswered}.`, 'input');
}

function checkTools({ tools }: ResponsesRequest): void {
  const names = new Set<string>();
  for (const [index, { name, parameters, strict }] of (tools ?? []).entries()) {
    if (names.has(name)) throw refuse(`Duplicate tool name: '${name}'.`, `tools[${index}].name`);
    names.add(name);
    const problem = parameters && schemaProblem(parameters, strict ?? false);
    if (problem)
      throw refuse(`Invalid schema for function '${name}': ${problem}`, `tools[${index}].parameters`, 'invalid_function_parameters');
  }
}

function schemaProblem(schema: Readonly<Record<string, unknown>>, strict: boolean): string | undefined {
  if (schema['type'] !== 'object') {
    return `schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(schema['type'] ?? 'None')}'.`;
  }
  if (!strict || schema['additionalProperties'] === false) return undefined;
  return "In context=(), 'additionalProperties' is required to be supplied and to be false.";
}

function refuseEncrypted({ id }: ItemOf<'reasoning'>): WireRefusal {
  const reason = 'Reason: Encrypted content could not be decrypted or parsed.';
  return new WireRefusal(400, `The encrypted content for item ${id} could not be verified. ${reason}`, {
    code: 'invalid_encrypted_content',
  });
}

function refuseUnknownItem(id: string): WireRefusal {
  const text = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`;
  return new WireRefusal(404, `${text} Try again with \`store\` set to true, or remove this item from your input.`, { param: 'input' });
}

function refuse(message: string, param: string, code?: string): WireRefusal {
  return new WireRefusal(400, message, { param, ...(code === undefined ? {} : { code }) });
}
