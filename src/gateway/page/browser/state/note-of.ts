import type { RunEvent } from '../../../../contracts/event.js';
import type { RunEventOf } from './run-view.js';

/** The line about an event that a reader of the run should see. */
interface NoteText {
  readonly text: string;
  readonly isProblem: boolean;
}

/** Lines by type of event. The other parts of the page show the events that are not listed. */
type Lines = { readonly [Type in RunEvent['type']]?: (event: RunEventOf<Type>) => string };

const PLAIN: Lines = {
  'model.switched': ({ from, to, why }) => `Model changed from ${from} to ${to} (${why}).`,
  handoff: ({ from, to }) => `Handed over from ${from} to ${to}.`,
  compacted: ({ messagesBefore, messagesAfter }) => `Transcript compacted: ${messagesBefore} messages to ${messagesAfter}.`,
  'finalise.warned': () => 'The agent was warned that its limits are near.',
  recovered: ({ what }) => `Recovered: ${what}.`,
  'subagent.ended': ({ agent, reason }) => `Sub-agent ${agent} ended: ${reason}.`,
  'question.answered': ({ outcome, by, answer }) => `Question ${outcome} by ${by}${answer === undefined ? '.' : `: ${answer}`}`,
  extended: ({ maxTurns }) => `Limits raised: ${maxTurns} turns.`,
  paused: () => 'Paused.',
  resumed: () => 'Resumed.',
  held: ({ by }) => `Held by ${by}.`,
  released: () => 'Released.',
  'cancel.requested': ({ reason }) => `Cancellation requested: ${reason}`,
  notice: ({ text }) => text,
};

const PROBLEMS: Lines = {
  'model.failed': ({ failure, message }) => `The model call failed (${failure}): ${message}`,
  'model.interrupted': ({ by }) => `The answer was interrupted by ${by}.`,
  'model.cooling': ({ model, until, why }) => `Model ${model} is cooling down until ${until} (${why}).`,
  'loop.detected': ({ pattern, count, action }) => `The agent repeats itself (${pattern}, ${count} times): ${action}.`,
  'answer.corrected': ({ why, text }) => `The answer was rejected (${why}): ${text}`,
  'budget.reached': ({ limit }) => `Limit reached: ${limit}.`,
  'worker.lost': ({ activity, why }) => `A worker was lost during ${activity}${why === undefined ? '' : ` (${why})`}.`,
  'compaction.failed': ({ strategy, message }) => `Compaction failed (${strategy}): ${message}`,
  'hook.decided': ({ on, action, reason }) => `A hook decided ${action} (${on}): ${reason}`,
  'steer.expired': () => 'A message expired before its delivery.',
  'steer.refused': ({ reason }) => `A message was refused: ${reason}`,
  'steer.unconsumed': () => 'The run ended before a message was delivered.',
};

/** The line about an event, or undefined for one that other parts of the page show. Pure. */
export function noteOf(event: RunEvent): NoteText | undefined {
  const plain = lineOf(PLAIN, event);
  if (plain !== undefined) return { text: plain, isProblem: false };
  const problem = lineOf(PROBLEMS, event);
  return problem === undefined ? undefined : { text: problem, isProblem: true };
}

function lineOf(lines: Lines, event: RunEvent): string | undefined {
  if (!Object.hasOwn(lines, event.type)) return undefined;
  // the table has the line of each type under its name
  const line = lines[event.type] as ((event: RunEvent) => string) | undefined;
  return line?.(event);
}
