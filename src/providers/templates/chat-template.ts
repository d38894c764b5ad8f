import type { Message, ThinkingPart, ToolCallPart, ToolResultPart } from '../../contracts/schemas/message.js';
import type { ModelRequest } from '../contract/provider.js';
import { partsText } from '../transcript/file-parts.js';

/** A tool as it is told to a model. */
export type ToldTool = ModelRequest['tools'][number];

/** A transcript whose messages are all text and thinking: what calls and results were in it is told in words. */
export interface SpokenTranscript {
  readonly prompt: string;
  readonly messages: readonly Message[];
}

/** How tools, calls and results are told to a model in text. */
export interface ToolWords {
  /** What stands after the prompt: the tools, and how to call them. Absent: models of this kind cannot be told of tools. */
  tools?(tools: readonly ToldTool[]): string;
  /** A call as the model itself would write it. */
  call(call: ToolCallPart): string;
  /** Results of one message, as the user's words. What a tool gave cannot end its result. */
  results(results: readonly ToolResultPart[]): string;
}

/** Text between an opening and a closing mark that is something else than text. */
export interface Mark {
  readonly kind: 'thinking' | 'call';
  readonly open: string;
  /** Its first sign comes in it only once. */
  readonly close: string;
  /** It opens at the beginning of a line only. @default false */
  readonly ownLine?: boolean;
}

/** How a model writes thinking and calls into its text. */
export interface AnswerMarkup {
  readonly marks: readonly Mark[];
  /** An answer that is nothing but a call's JSON is a call, also without marks. @default false */
  readonly bareCalls?: boolean;
  /** Where a turn ends: what a server that knows no stop sequences sends after it is dropped. */
  readonly stops: readonly string[];
}

/**
 * How one family of models is spoken to in plain text.
 *
 * Contract: all is pure and never throws. The same transcript with more messages has the same beginning, up to the last turn, so that
 * servers find what they kept of it; only thinking that a model is told no more may go. No text of the transcript can end its turn or begin another one.
 */
export interface ChatTemplate {
  readonly name: 'qwen3' | 'gemma' | 'plain';
  readonly toolWords: ToolWords;
  readonly markup: AnswerMarkup;
  /** The prompt that the model goes on from, with its own turn open. */
  render(transcript: SpokenTranscript, options: { readonly thinking: ModelRequest['thinking'] }): string;
}

/** JSON with a space after each comma and colon: how the models of chat templates saw it when they were trained. Never throws. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}: ${spacedJson(member)}`).join(', ')}}`;
}

/** One turn of a spoken transcript. */
export interface TemplateTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly thinking: string;
}

/** The turns of a transcript as texts; an answer without one is empty. */
export function templateTurns(messages: readonly Message[]): TemplateTurn[] {
  return messages.map(({ role, parts }) => {
    const thinking = parts
      .filter((part): part is ThinkingPart => part.type === 'thinking')
      .map((part) => part.text)
      .join('\n');
    const rest = parts.filter((part) => part.type !== 'thinking');
    const speaker = role === 'assistant' ? 'assistant' : 'user';
    return { role: speaker, text: rest.length === 0 && speaker === 'assistant' ? '' : partsText(rest), thinking };
  });
}

/** Neighbouring turns of one side as one, for models that know only alternating ones. */
export function alternating(turns: readonly TemplateTurn[]): TemplateTurn[] {
  const merged: TemplateTurn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last?.role !== turn.role) merged.push(turn);
    else merged[merged.length - 1] = { ...last, text: `${last.text}\n\n${turn.text}` };
  }
  return merged;
}
