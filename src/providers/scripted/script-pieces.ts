import type { ScriptedAnswer } from './script-player.js';

/** A piece of a scripted answer, as it streams. A wire format writes each as one or more events. */
export type AnswerPiece =
  | { readonly kind: 'start' }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly kind: 'arguments'; readonly index: number; readonly text: string }
  | { readonly kind: 'block_end' }
  | { readonly kind: 'finish' };

/** The pieces of an answer in the order a model sends them: thinking, text, calls; each ended by `block_end`. */
export function answerPieces(answer: ScriptedAnswer): AnswerPiece[] {
  const pieces: AnswerPiece[] = [{ kind: 'start' }];
  const { chunkChars } = answer;
  if (answer.thinking)
    pieces.push(...split(answer.thinking, chunkChars).map((text) => ({ kind: 'thinking', text }) as const), { kind: 'block_end' });
  if (answer.text) pieces.push(...split(answer.text, chunkChars).map((text) => ({ kind: 'text', text }) as const), { kind: 'block_end' });
  for (const [index, call] of answer.toolCalls.entries()) {
    pieces.push({ kind: 'tool_call', index, id: call.id, name: call.name });
    pieces.push(...split(call.argsText, chunkChars).map((text) => ({ kind: 'arguments', index, text }) as const));
    pieces.push({ kind: 'block_end' });
  }
  pieces.push({ kind: 'finish' });
  return pieces;
}

/** By characters when asked, else word by word; surrogate pairs stay whole. */
function split(text: string, chunkChars: number | undefined): string[] {
  if (chunkChars === undefined) return text.match(/\s*\S+|\s+$/gu) ?? [];
  const characters = Array.from(text);
  const chunks: string[] = [];
  for (let start = 0; start < characters.length; start += chunkChars) chunks.push(characters.slice(start, start + chunkChars).join(''));
  return chunks;
}
