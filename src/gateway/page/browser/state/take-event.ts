import type { RunEvent } from '../../../../contracts/event.js';
import type { RunResult } from '../../../../contracts/schemas/run.js';
import type { ServerEvent } from '../api/read-events.js';
import { noteOf } from './note-of.js';
import { answerKey, type CallFacts, type CallState, type LiveAnswer, type RunEventOf, type RunView } from './run-view.js';

/** The data of `text.delta`, `thinking.delta` and `attempt.reset`. */
interface TokenData {
  readonly turn: number;
  readonly text?: string;
  /** The reserved final answer. */
  readonly final?: true;
}

/** Adds an event to a run. Pure. Events of a later version of the gateway change nothing. */
export function takeEvent(view: RunView, { id, type, data }: ServerEvent): RunView {
  switch (type) {
    case 'text.delta':
    case 'thinking.delta':
      // the gateway writes these types with this data
      return addToken(view, data as TokenData, type === 'text.delta' ? 'text' : 'thinking');
    case 'attempt.reset':
      return setLive(view, { ...liveOf(view, data as TokenData), text: '', thinking: '' });
    case 'result':
      return { ...view, result: (data as { result: RunResult }).result };
    case 'gap':
      return addNote(view, { key: `gap-${id}`, text: 'Some older events are missing here.' });
    default:
      return takeRunEvent(view, data as RunEvent);
  }
}

function addToken(view: RunView, data: TokenData, kind: 'text' | 'thinking'): RunView {
  const live = liveOf(view, data);
  return setLive(view, { ...live, [kind]: live[kind] + (data.text ?? '') });
}

function liveOf(view: RunView, { turn, final }: TokenData): LiveAnswer {
  const isFinal = final === true;
  return view.live.get(answerKey(turn, isFinal)) ?? { turn, isFinal, text: '', thinking: '' };
}

function setLive(view: RunView, live: LiveAnswer): RunView {
  return { ...view, live: new Map(view.live).set(answerKey(live.turn, live.isFinal), live) };
}

function takeRunEvent(before: RunView, event: RunEvent): RunView {
  const view = 'turn' in event && event.turn > before.turn ? { ...before, turn: event.turn } : before;
  const text = noteOf(event);
  const noted = text === undefined ? view : addNote(view, { key: `event-${event.seq}`, ...text });
  // the table has the change of each type under its name
  const change = Object.hasOwn(CHANGES, event.type) ? (CHANGES[event.type] as Change<RunEvent> | undefined) : undefined;
  return change?.(noted, event) ?? noted;
}

type Change<Event> = (view: RunView, event: Event) => RunView;

/** What events change beside the notes. */
const CHANGES: { readonly [Type in RunEvent['type']]?: Change<RunEventOf<Type>> } = {
  'steer.accepted': (view, { id }) => ({ ...view, queued: [...view.queued, id] }),
  'steer.delivered': withoutQueued,
  'steer.merged': withoutQueued,
  'steer.expired': withoutQueued,
  'steer.refused': withoutQueued,
  'steer.unconsumed': withoutQueued,
  // a call that was denied gets a result too
  'tool.call': (view, { callId, title }) => setCall(view, callId, { title, state: isDenied(view, callId) ? 'denied' : 'running' }),
  'tool.result': (view, { callId, outcome, isError, durationMs }) =>
    setCall(view, callId, { state: isDenied(view, callId) ? 'denied' : stateOf(outcome, isError), durationMs }),
  'tool.blocked': (view, { callId, by, reason }) => setCall(view, callId, { state: 'denied', note: `blocked by ${by}: ${reason}` }),
  'tool.remembered': (view, { callId }) =>
    setCall(view, callId, { state: 'ok', note: 'answered with the result of the same earlier call' }),
  'approval.asked': (view, { callId, title }) => setCall(view, callId, { title, state: 'asking' }),
  'approval.decided': (view, event) => setCall(view, event.callId, decidedFacts(event)),
  'subagent.started': (view, { callId, runId }) =>
    setCall(view, callId, { state: view.calls.get(callId)?.state ?? 'running', childRunId: runId }),
};

function withoutQueued(view: RunView, { id }: { readonly id: string }): RunView {
  return { ...view, queued: view.queued.filter((queued) => queued !== id) };
}

function isDenied({ calls }: RunView, callId: string): boolean {
  return calls.get(callId)?.state === 'denied';
}

function decidedFacts({ decision, by, reason }: RunEventOf<'approval.decided'>): CallFacts {
  const note = `${decision} by ${by}${reason === undefined ? '' : `: ${reason}`}`;
  return { state: decision === 'approved' ? 'waiting' : 'denied', note };
}

function setCall(view: RunView, callId: string, facts: CallFacts): RunView {
  return { ...view, calls: new Map(view.calls).set(callId, { ...view.calls.get(callId), ...facts }) };
}

function stateOf(outcome: string, isError: boolean): CallState {
  if (outcome === 'unknown') return 'unknown';
  return isError ? 'failed' : 'ok';
}

function addNote(view: RunView, { key, text, isProblem = false }: { key: string; text: string; isProblem?: boolean }): RunView {
  if (view.notes.some((note) => note.key === key)) return view;
  return { ...view, notes: [...view.notes, { key, turn: view.turn, text, isProblem }] };
}
