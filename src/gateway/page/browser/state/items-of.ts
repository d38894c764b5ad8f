import type { ContentPart, JsonValue, Message, ToolCallPart } from '../../../../contracts/schemas/message.js';
import { toolTitle } from '../../../../contracts/text/tool-title.js';
import {
  answerKey,
  answerKeyOf,
  type CallFacts,
  type CallState,
  isFinalAnswer,
  type LiveAnswer,
  type Note,
  type RunView,
} from './run-view.js';

/** What the page shows of a run, from top to bottom. */
export type Item =
  | { readonly kind: 'message'; readonly key: string; readonly label: string; readonly text: string; readonly isAside: boolean }
  | { readonly kind: 'answer'; readonly key: string; readonly answer: ShownAnswer }
  | { readonly kind: 'note'; readonly key: string; readonly note: Note };

/** An answer of the model, with its calls. */
export interface ShownAnswer {
  readonly turn: number;
  readonly text: string;
  readonly thinking: string;
  /** True for the reserved final answer, which has the number of the last turn. */
  readonly isFinal: boolean;
  /** True while its text arrives. */
  readonly isLive: boolean;
  /** True for an answer that was aborted. */
  readonly isPartial: boolean;
  readonly calls: readonly ShownCall[];
}

/** A tool call of an answer. */
export interface ShownCall {
  readonly callId: string;
  readonly name: string;
  readonly title: string;
  readonly args: JsonValue;
  readonly state: CallState;
  readonly output?: readonly ContentPart[];
  readonly durationMs?: number;
  readonly note?: string;
  readonly childRunId?: string;
}

/** The items of a run: the transcript, then answers that arrive, with notes after the turn that they belong to. Pure. */
export function itemsOf(view: RunView): readonly Item[] {
  const results = resultsOf(view.messages);
  const shown = view.messages.flatMap((message) => itemOf(message, { view, results }));
  const known = new Set(view.messages.filter(({ role }) => role === 'assistant').map(answerKeyOf));
  const arriving = [...view.live.values()].filter((live) => !known.has(answerKey(live.turn, live.isFinal)));
  const isOpen = view.result === undefined;
  return withNotes([...shown, ...arriving.filter(hasText).map((live) => liveItem(live, isOpen))], view.notes);
}

type Results = ReadonlyMap<string, { readonly isError: boolean; readonly parts: readonly ContentPart[] }>;

function resultsOf(messages: readonly Message[]): Results {
  const parts = messages.flatMap((message) => message.parts);
  return new Map(parts.flatMap((part) => (part.type === 'tool_result' ? [[part.callId, part] as const] : [])));
}

/** An item with its place among the turns. */
type Placed = { readonly turn: number; readonly item: Item };

function itemOf(message: Message, { view, results }: { readonly view: RunView; readonly results: Results }): Placed[] {
  const { id, role, turn = 0, origin } = message;
  if (role === 'tool') return [];
  if (role === 'user') {
    const item: Item = {
      kind: 'message',
      key: id,
      label: LABELS[origin ?? 'task'],
      text: userText(message),
      isAside: origin !== undefined && origin !== 'steer',
    };
    return [{ turn, item }];
  }
  const calls = message.parts.flatMap((part) => (part.type === 'tool_call' ? [callOf(part, view.calls.get(part.callId), results)] : []));
  const answer = {
    turn,
    text: joined(message, 'text'),
    thinking: joined(message, 'thinking'),
    isFinal: isFinalAnswer(message),
    isLive: false,
    isPartial: message.partial === true,
    calls,
  };
  return [{ turn: placeOf(answer), item: { kind: 'answer', key: `answer-${answerKeyOf(message)}`, answer } }];
}

const LABELS: Readonly<Record<NonNullable<Message['origin']> | 'task', string>> = {
  task: 'You',
  steer: 'You, while it ran',
  nudge: 'Perdure',
  correction: 'Perdure',
  summary: 'Summary of earlier messages',
  subagent: 'Result of a sub-agent',
};

function userText({ parts }: Message): string {
  return parts.map((part) => (part.type === 'text' ? part.text : part.type === 'file' ? `[file: ${part.mime}]` : '')).join('\n');
}

function joined({ parts }: Message, type: 'text' | 'thinking'): string {
  return parts.map((part) => (part.type === type ? part.text : '')).join('');
}

function callOf(part: ToolCallPart, facts: CallFacts | undefined, results: Results): ShownCall {
  const { callId, name, args } = part;
  const result = results.get(callId);
  return {
    callId,
    name,
    title: facts?.title ?? toolTitle(name, args),
    args: part.argsText ?? args,
    state: stateOf(facts?.state, result),
    ...(result ? { output: result.parts } : {}),
    ...(facts?.durationMs === undefined ? {} : { durationMs: facts.durationMs }),
    ...(facts?.note === undefined ? {} : { note: facts.note }),
    ...(facts?.childRunId === undefined ? {} : { childRunId: facts.childRunId }),
  };
}

/** The events of an old run may be gone: then its transcript decides. */
function stateOf(told: CallState | undefined, result: { readonly isError: boolean } | undefined): CallState {
  if (!result) return told ?? 'waiting';
  if (told === 'denied' || told === 'unknown' || told === 'ok' || told === 'failed') return told;
  return result.isError ? 'failed' : 'ok';
}

function hasText({ text, thinking }: LiveAnswer): boolean {
  return text !== '' || thinking !== '';
}

function liveItem({ turn, isFinal, text, thinking }: LiveAnswer, isLive: boolean): Placed {
  const answer = { turn, text, thinking, isFinal, isLive, isPartial: !isLive, calls: [] };
  return { turn: placeOf(answer), item: { kind: 'answer', key: `answer-${answerKey(turn, isFinal)}`, answer } };
}

/** The final answer follows the notes of its turn: one of them says why the run writes it. */
function placeOf({ turn, isFinal }: Pick<ShownAnswer, 'turn' | 'isFinal'>): number {
  return isFinal ? turn + 0.5 : turn;
}

/** Puts each note behind the items of its turn. */
function withNotes(placed: readonly Placed[], notes: readonly Note[]): readonly Item[] {
  const items: Item[] = [];
  let next = 0;
  const addNotesBefore = (turn: number): void => {
    for (let note = notes[next]; note && note.turn < turn; note = notes[next]) {
      items.push({ kind: 'note', key: note.key, note });
      next += 1;
    }
  };
  for (const { turn, item } of placed) {
    addNotesBefore(turn);
    items.push(item);
  }
  addNotesBefore(Number.POSITIVE_INFINITY);
  return items;
}
