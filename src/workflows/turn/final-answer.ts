import { textOf } from '../../contracts/message-text.js';
import type { JsonValue, Message } from '../../contracts/schemas/message.js';
import type { Reason } from '../../contracts/schemas/run.js';
import type { Run } from '../state/run.js';
import type { Ending } from '../state/run-result.js';
import { structuredOf } from './accept-answer.js';
import { takeSteers, takeSubagentResults } from './deliver-messages.js';
import { requestAnswer } from './request-answer.js';
import { afterRun, onError } from './run-hooks.js';

/** Why no further turn follows, in the words of the final instruction to the model. */
const REASON_TEXTS: Partial<Record<Reason, string>> = {
  max_turns: 'the turn limit of this run is reached',
  deadline: 'the time limit of this run is reached',
  budget: 'the budget of this run is spent',
  loop_detected: 'this run repeats the same steps without progress',
};

const EMPTY_ANSWERS = 'your answers had no text';

/** True for the reasons that reserve a final call, so that the run ends with an answer. */
export function hasFinalCall(reason: Reason): boolean {
  return REASON_TEXTS[reason] !== undefined;
}

/**
 * The reserved final call. It sends the same tools with tool choice `none`, and its instruction is in that request only. It is not a
 * turn. Returns undefined when the call failed, timed out or was cancelled: then the last text of the transcript is the output.
 */
async function finalAnswer(run: Run, reason: Reason): Promise<Message | undefined> {
  // a cancelled run requests no answer
  if (run.inbox.cancelRequest) return undefined;
  run.phase = 'finalising';
  run.tool = undefined;
  // this call has its own time limit: the deadline must not abort it
  run.clock.stop();
  // this is the last request: it includes all queued messages
  run.inbox.dropDirectives(run.counters.turn);
  takeSubagentResults(run, run.counters.turn);
  takeSteers(run, run.counters.turn, 'all');
  const reply = await requestAnswer(run, { requestOnly: [instruction(reason)], toolChoice: 'none', final: true });
  if (reply.kind !== 'answer') return undefined;
  return textOf(reply.message).trim() === '' ? undefined : reply.message;
}

/** The last assistant text of the transcript. */
function lastText(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'assistant' && textOf(message).trim() !== '');
  return last ? textOf(last) : '';
}

function instruction(reason: Reason): Message {
  return {
    id: 'final-answer',
    role: 'user',
    origin: 'nudge',
    parts: [
      {
        type: 'text',
        text: `[notice] This is the last answer: ${REASON_TEXTS[reason] ?? EMPTY_ANSWERS}. Call no tools. Say in plain text what was done, what was found, and what is still open.`,
      },
    ],
  };
}

type End = Extract<Ending, { kind: 'end' }>;

/** The output of a run at its end. */
export interface FinalOutput {
  readonly output: string;
  readonly finalized?: boolean;
  /** The ending, when a hook or the final call changed it. */
  readonly ending?: End;
}

/** Produces the output: the reserved final call where the reason has one, then the hooks after the run. */
export async function finalOutput(run: Run, ending: End): Promise<FinalOutput> {
  const mayAskForText = run.isGuarded && run.input.mode !== 'chat';
  const asked = hasFinalCall(ending.reason) || (mayAskForText && ending.emptyAnswer === true);
  const final = asked ? await finalAnswer(run, ending.reason) : undefined;
  const output = final ? textOf(final) : lastText(run.transcript.since(run.taskId));
  const finalized = hasFinalCall(ending.reason) ? { finalized: final !== undefined } : {};
  const settled = final ? await settledBy(run, ending, final) : ending;
  if (settled.reason === 'error') return { output, ending: await onError(run, settled), ...finalized };
  return { ...(await afterRun(run, { output, ending: settled })), ...finalized };
}

/** The ending after a final call. Its answer may be the JSON of the output schema. */
async function settledBy(run: Run, ending: End, final: Message): Promise<End> {
  const structured: JsonValue | undefined = await structuredOf(run, final);
  return { ...ending, emptyAnswer: false, ...(structured === undefined ? {} : { structured }) };
}
