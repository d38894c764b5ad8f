import type { Message, Part } from '../../../contracts/schemas/message.js';
import { toolCallsOf } from '../../../contracts/tool-calls-of.js';
import { type PairedTranscript, repairPairing } from '../pairing.js';
import { saysSomething } from '../says-something.js';

/** No provider takes a longer name of a tool. */
const NAME_CHARS_MAX = 64;

/**
 * Makes a transcript that was given or carried one that every provider takes: calls and results paired, names of tools trimmed (calls
 * without a usable name go, with their results), empty turns and repeated neighbours removed. What is right comes back as it is.
 */
export function repairHistory(given: readonly Message[]): PairedTranscript {
  const paired = repairPairing(given);
  const named = repairNames(paired.messages);
  const messages = withoutRepeats(named.messages.filter((message) => message.role === 'tool' || saysSomething(message)));
  const repairs = paired.repairs + named.repairs + (named.messages.length - messages.length);
  return { messages: repairs === 0 ? given : messages, repairs };
}

/** Trims names, and drops calls whose name no tool can have. */
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

/** Of neighbours that say the same only the later one stays. Steers are exempt: each was acknowledged. */
function withoutRepeats(messages: readonly Message[]): Message[] {
  return messages.filter((message, index) => {
    const next = messages[index + 1];
    return !next || message.role === 'tool' || message.origin === 'steer' || !isRepeat(message, next);
  });
}

function isRepeat(a: Message, b: Message): boolean {
  return a.role === b.role && a.origin === b.origin && JSON.stringify(a.parts) === JSON.stringify(b.parts);
}
