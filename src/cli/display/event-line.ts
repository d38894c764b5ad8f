import type { RunEvent } from '../../contracts/event.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { formatBytes, formatDuration, formatNumberOf, formatTime } from './format.js';
import { terminalLine } from './terminal-text.js';

const SHORT_CHARS = 120;

/** One line for a person per event of a run; undefined for those that would only add noise. Text of models and tools is made safe. */
export function eventLine(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'run.started':
      return startLine(event);
    case 'turn.started':
      return `turn ${event.turn}`;
    case 'model.failed':
      return `  model call failed${event.model === undefined ? '' : ` (${terminalLine(event.model)})`}: ${terminalLine(event.failure)}: ${terminalLine(event.message)}`;
    case 'tool.call':
      return `  ${terminalLine(event.title)}`;
    case 'tool.result':
      return `  → ${event.outcome}, ${formatDuration(event.durationMs)}, ${formatBytes(event.bytes)}`;
    case 'steer.accepted':
      return `message ${event.id} accepted, place ${event.position + 1}`;
    case 'steer.delivered':
      return `message ${event.id} read in turn ${event.turn}`;
    case 'finalise.warned':
      return `the model was told: ${formatNumberOf(event.remaining, 'turn')} left`;
    case 'recovered':
      return `  recovered: ${terminalLine(event.what)} (${event.count})`;
    case 'worker.lost':
      return `  worker lost during ${event.activity} (${event.losses}), going on`;
    case 'waiting':
      return `waiting: ${terminalLine(event.for)}`;
    case 'paused':
      return 'paused';
    case 'resumed':
      return 'resumed';
    case 'extended':
      return `caps raised: at most ${formatNumberOf(event.maxTurns, 'turn')}`;
    case 'cancel.requested':
      return `cancel requested${event.reason === '' ? '' : `: ${terminalLine(event.reason)}`}`;
    case 'loop.detected':
      return `  loop: ${terminalLine(event.pattern)}, ${event.count} times: ${event.action}`;
    case 'answer.corrected':
      return `  corrected (${terminalLine(event.why)}, ${event.attempt}): ${short(event.text)}`;
    case 'tool.blocked':
      return `  ${terminalLine(event.tool)} blocked by ${terminalLine(event.by)}: ${short(event.reason)}`;
    case 'tool.remembered':
      return `  ${terminalLine(event.tool)}: answered from an earlier call`;
    case 'hook.decided':
      return `  hook ${event.on}: ${event.action}: ${terminalLine(event.reason)}`;
    case 'approval.asked':
      return approvalLine(event);
    case 'approval.decided':
      return decisionLine(event);
    case 'compacted':
      return `  compacted (${event.strategy}): ${event.tokensBefore} → ${event.tokensAfter} tokens${event.note === undefined ? '' : `, ${terminalLine(event.note)}`}`;
    case 'compaction.failed':
      return `  compaction failed (${event.strategy}): ${terminalLine(event.message)}`;
    case 'budget.reached':
      return `budget reached: ${terminalLine(event.limit)}`;
    case 'model.interrupted':
      return `  model call interrupted by ${terminalLine(event.by)}`;
    case 'steer.merged':
    case 'steer.expired':
    case 'steer.unconsumed':
      return `  message ${terminalLine(event.id)} ${event.type.slice('steer.'.length)}`;
    case 'steer.refused':
      return `  message ${terminalLine(event.id)} refused: ${terminalLine(event.reason)}`;
    case 'notice':
      return terminalLine(event.text);
    case 'held':
      return `held by ${terminalLine(event.by)} until ${formatTime(event.until)}`;
    case 'released':
      return `released (${event.why})`;
    case 'model.switched':
      return `model ${terminalLine(event.from)} → ${terminalLine(event.to)}: ${terminalLine(event.why)}`;
    case 'model.cooling':
      return `  ${terminalLine(event.model)}${withKey(event.credential)} left alone until ${formatTime(event.until)}: ${terminalLine(event.why)}`;
    case 'model.completed':
    case 'turn.ended':
    case 'continued':
    case 'run.ended':
      return undefined;
    default:
      return unknownEvent(event);
  }
}

/** A run that is refused before its first turn has no cap yet. */
function startLine({ agent, model, maxTurns }: Extract<RunEvent, { type: 'run.started' }>): string {
  const cap = maxTurns === 0 ? '' : `, at most ${formatNumberOf(maxTurns, 'turn')}`;
  return `agent ${terminalLine(agent)}, model ${terminalLine(model)}${cap}`;
}

/** Which of several keys. */
function withKey(credential: string | undefined): string {
  return credential === undefined ? '' : ` with ${terminalLine(credential)}`;
}

/** What a person decides about is shown with its arguments; more of a budget has none. */
function approvalLine({ title, args = '', callId }: Extract<RunEvent, { type: 'approval.asked' }>): string {
  const asked = callId === BUDGET_APPROVAL ? title : `${title} ${args}`;
  return `  approval needed: ${terminalLine(asked).trim()} (${terminalLine(callId)})`;
}

/** Who decided, and why. A spent budget asks under the name of what answers it, which would read as if that was decided about. */
function decisionLine({ callId, tool, decision, by, reason }: Extract<RunEvent, { type: 'approval.decided' }>): string {
  const what = callId === BUDGET_APPROVAL ? 'more of the cap' : terminalLine(tool);
  if (decision === 'expired') return `  ${what} denied (timed out)`;
  return `  ${what} ${decision} by ${terminalLine(by)}${reason === undefined ? '' : `: ${short(reason)}`}`;
}

/** What the model reads in full is only recalled to a person. */
function short(text: string): string {
  const line = terminalLine(text);
  return line.length <= SHORT_CHARS ? line : `${line.slice(0, SHORT_CHARS - 1)}…`;
}

/** A newer workflow may tell of what this command line does not know. */
function unknownEvent(_event: never): undefined {
  return undefined;
}
