import { toolCallsOf } from '../../../contracts/message-text.js';
import type { Message, Part, ToolCallPart, ToolResultPart } from '../../../contracts/schemas/message.js';
import { saysSomething } from '../answer/judge-answer.js';

/** Providers reject longer tool names. */
const NAME_CHARS_MAX = 64;

/**
 * Repairs a transcript from outside so that every provider accepts it: calls and results are paired, tool names trimmed, calls without a
 * valid name dropped with their results, empty messages and repeated neighbours removed. A valid transcript is returned unchanged.
 */
export function repairHistory(given: readonly Message[]): PairedTranscript {
  const paired = repairPairing(given);
  const named = repairNames(paired.messages);
  const messages = withoutRepeats(named.messages.filter((message) => message.role === 'tool' || saysSomething(message)));
  const repairs = paired.repairs + named.repairs + (named.messages.length - messages.length);
  return { messages: repairs === 0 ? given : messages, repairs };
}

/** Trims tool names, and drops calls with an invalid name. */
function repairNames(messages: readonly Message[]): PairedTranscript {
  const dropped = new Set(
    messages
      .flatMap(toolCallsOf)
      .filter(({ name }) => !isUsable(name.trim()))
      .map(({ callId }) => callId),
  );
  let repairs = 0;
  const repaired = messages.flatMap((message): Message[] => {
    const parts = message.parts.flatMap((part): Part[] => {
      if ('callId' in part && dropped.has(part.callId)) return [];
      return part.type === 'tool_call' && part.name !== part.name.trim() ? [{ ...part, name: part.name.trim() }] : [part];
    });
    if (parts.length === message.parts.length && parts.every((part, index) => part === message.parts[index])) return [message];
    repairs += 1;
    return message.role === 'tool' && parts.length === 0 ? [] : [{ ...message, parts }];
  });
  return { messages: repaired, repairs };
}

function isUsable(name: string): boolean {
  return name !== '' && name.length <= NAME_CHARS_MAX;
}

/** Drops the earlier one of two equal neighbours. Steers are kept, because each was accepted. */
function withoutRepeats(messages: readonly Message[]): Message[] {
  return messages.filter((message, index) => {
    const next = messages[index + 1];
    return !next || message.role === 'tool' || message.origin === 'steer' || !isRepeat(message, next);
  });
}

function isRepeat(a: Message, b: Message): boolean {
  return a.role === b.role && a.origin === b.origin && JSON.stringify(a.parts) === JSON.stringify(b.parts);
}

/**
 * The transcript with a user message at its end. A last message with the same content is replaced. Earlier messages with the same content
 * stay.
 */
export function appendOnce(messages: readonly Message[], message: Message): Message[] {
  const last = messages.at(-1);
  const isSaid = last?.role === 'user' && last.origin === undefined && JSON.stringify(last.parts) === JSON.stringify(message.parts);
  return [...(isSaid ? messages.slice(0, -1) : messages), message];
}

/** A paired transcript, and the number of repairs. */
export interface PairedTranscript {
  readonly messages: readonly Message[];
  readonly repairs: number;
}

/**
 * Gives every tool call exactly one result, directly after the message of the call. A misplaced result is moved there, a missing one is
 * added as `[outcome unknown]`, a result without its call is dropped, and a repeated id is made unique. A valid transcript is returned
 * unchanged. Deterministic.
 */
export function repairPairing(messages: readonly Message[]): PairedTranscript {
  return isPaired(messages) ? { messages, repairs: 0 } : new Repair(messages).run();
}

/** True when every call has one result directly after its message, there are no other calls and results, and ids are unique. */
export function isPaired(messages: readonly Message[]): boolean {
  const known = new Set<string>();
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      if (message.parts.length === 0) return false;
      for (const part of message.parts) if (part.type !== 'tool_result' || !open.delete(part.callId)) return false;
      continue;
    }
    if (open.size > 0 || message.parts.some((part) => isMisplaced(message, part))) return false;
    const ids = toolCallsOf(message).map(({ callId }) => callId);
    open = new Set(ids);
    if (open.size < ids.length || ids.some((id) => known.has(id))) return false;
    for (const id of ids) known.add(id);
  }
  return open.size === 0;
}

function isMisplaced({ role }: Message, { type }: Part): boolean {
  return type === 'tool_result' || (type === 'tool_call' && role !== 'assistant');
}

interface PlacedResult {
  readonly part: ToolResultPart;
  readonly message: Message;
  /** The position of its message: a result belongs to an earlier call. */
  readonly at: number;
  taken: boolean;
}

/** One repair, from the first message to the last. The result of a call is searched in all later messages. */
class Repair {
  readonly #given: readonly Message[];
  readonly #results = new Map<string, PlacedResult[]>();
  readonly #ids = new Set<string>();
  readonly #repaired: Message[] = [];
  #repairs = 0;

  constructor(given: readonly Message[]) {
    this.#given = given;
    for (const [at, message] of given.entries()) {
      for (const part of message.parts) {
        if (part.type !== 'tool_result') continue;
        this.#results.set(part.callId, [...(this.#results.get(part.callId) ?? []), { part, message, at, taken: false }]);
      }
    }
  }

  run(): PairedTranscript {
    for (const [at, message] of this.#given.entries()) if (message.role !== 'tool') this.#keep(message, at);
    const orphans = [...this.#results.values()].flat().filter(({ taken }) => !taken).length;
    // a moved result is a repair too, although nothing is added or dropped
    return { messages: this.#repaired, repairs: Math.max(1, this.#repairs + orphans) };
  }

  #keep(message: Message, at: number): void {
    const calls: { readonly given: ToolCallPart; readonly call: ToolCallPart }[] = [];
    const parts = message.parts.flatMap((part): Part[] => {
      if (isMisplaced(message, part)) return [];
      if (part.type !== 'tool_call') return [part];
      const call = { ...part, callId: this.#uniqueId(part.callId) };
      calls.push({ given: part, call });
      return [call];
    });
    if (parts.length < message.parts.length) this.#repairs += 1;
    if (parts.length > 0 || message.parts.length === 0) this.#repaired.push({ ...message, parts });
    for (const { given, call } of calls) this.#repaired.push(this.#resultOf(given, call, at));
  }

  #uniqueId(given: string): string {
    let id = given;
    for (let copy = 2; this.#ids.has(id); copy += 1) id = `${given}_${copy}`;
    if (id !== given) this.#repairs += 1;
    this.#ids.add(id);
    return id;
  }

  #resultOf(given: ToolCallPart, call: ToolCallPart, at: number): Message {
    const found = this.#results.get(given.callId)?.find((result) => !result.taken && result.at > at);
    if (!found) {
      this.#repairs += 1;
      return missingResult(call);
    }
    found.taken = true;
    return { ...found.message, role: 'tool', parts: [{ ...found.part, callId: call.callId }] };
  }
}

/** The result of a call whose result was lost before this run. */
function missingResult({ callId }: ToolCallPart): Message {
  const text =
    '[outcome unknown] No result of this call was kept. It may or may not have taken effect. Check the state before repeating it.';
  return { id: callId, role: 'tool', parts: [{ type: 'tool_result', callId, isError: true, parts: [{ type: 'text', text }] }] };
}
