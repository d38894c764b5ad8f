import type { RunEvent } from '../../contracts/event.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { formatBytes, formatDuration, formatNumberOf, formatTime } from './format.js';
import { terminalLine } from './terminal-text.js';

const SHORT_CHARS = 120;

/** Formats an event of a run as one line. Undefined for events that are not shown. Text of models and tools is made safe for terminals. */
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
      return `message ${event.id} accepted, position ${event.position + 1}`;
    case 'steer.delivered':
      return `message ${event.id} delivered in turn ${event.turn}`;
    case 'finalise.warned':
      return `model warned: ${formatNumberOf(event.remaining, 'turn')} left`;
    case 'recovered':
      return `  recovered: ${terminalLine(event.what)} (${event.count})`;
    case 'worker.lost':
      return `  worker lost during ${event.activity} (${event.losses}${event.why === undefined ? '' : `, ${event.why}`}), continuing`;
    case 'waiting':
      return `waiting: ${terminalLine(event.for)}`;
    case 'paused':
      return 'paused';
    case 'resumed':
      return 'resumed';
    case 'extended':
      return `limits increased: at most ${formatNumberOf(event.maxTurns, 'turn')}`;
    case 'cancel.requested':
      return `cancel requested${event.reason === '' ? '' : `: ${terminalLine(event.reason)}`}`;
    case 'loop.detected':
      return `  loop: ${terminalLine(event.pattern)}, ${event.count} times: ${event.action}`;
    case 'answer.corrected':
      return `  corrected (${terminalLine(event.why)}, ${event.attempt}): ${short(event.text)}`;
    case 'tool.blocked':
      return `  ${terminalLine(event.tool)} blocked by ${terminalLine(event.by)}: ${short(event.reason)}`;
    case 'tool.remembered':
      return `  ${terminalLine(event.tool)}: result reused from an earlier call`;
    case 'hook.decided':
      return `  hook ${event.on}: ${event.action}: ${terminalLine(event.reason)}`;
    case 'approval.asked':
      return approvalLine(event);
    case 'approval.decided':
      return decisionLine(event);
    case 'question.asked':
      return questionLine(event);
    case 'question.answered':
      return answerLine(event);
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
      return `  ${terminalLine(event.model)}${withKey(event.credential)} cooling down until ${formatTime(event.until)}: ${terminalLine(event.why)}`;
    case 'subagent.started':
      return `  sub-agent ${terminalLine(event.runId)} started${event.background ? ' in the background' : ''}`;
    case 'subagent.delivered':
      return `  result of sub-agent ${terminalLine(event.runId)} delivered in turn ${event.turn}`;
    case 'subagent.ended':
      return `  sub-agent ${terminalLine(event.runId)} ended: ${terminalLine(event.reason)}`;
    case 'handoff':
      return `handed over from ${terminalLine(event.from)} to ${terminalLine(event.to)}`;
    case 'tools.changed':
      return `tools of MCP servers changed: ${changedTools(event)}`;
    case 'mcp.sampled':
      return samplingLine(event);
    case 'model.completed':
    case 'turn.ended':
    case 'continued':
    case 'run.ended':
      return undefined;
    default:
      return unknownEvent(event);
  }
}

function samplingLine({ server, outcome, model, reason = '' }: Extract<RunEvent, { type: 'mcp.sampled' }>): string {
  return `  completion for ${terminalLine(server)} ${outcome}${model === undefined ? '' : ` by ${terminalLine(model)}`}${reason === '' ? '' : `: ${terminalLine(reason)}`}`;
}

/** The names with a sign each: added, removed, changed. */
function changedTools({ added, removed, changed }: Extract<RunEvent, { type: 'tools.changed' }>): string {
  const signed = [...added.map((name) => `+${name}`), ...removed.map((name) => `-${name}`), ...changed.map((name) => `~${name}`)];
  return terminalLine(signed.join(' '));
}

/** A run that is rejected before its first turn has no turn limit. */
function startLine({ agent, model, maxTurns }: Extract<RunEvent, { type: 'run.started' }>): string {
  const limit = maxTurns === 0 ? '' : `, at most ${formatNumberOf(maxTurns, 'turn')}`;
  return `agent ${terminalLine(agent)}, model ${terminalLine(model)}${limit}`;
}

/** Names the key when a provider has several. */
function withKey(credential: string | undefined): string {
  return credential === undefined ? '' : ` with ${terminalLine(credential)}`;
}

/** Shows the arguments of the pending call. A reached limit has none. */
function approvalLine({ title, args = '', callId }: Extract<RunEvent, { type: 'approval.asked' }>): string {
  const asked = callId === BUDGET_APPROVAL ? title : `${title} ${args}`;
  return `  approval needed: ${terminalLine(asked).trim()} (${terminalLine(callId)})`;
}

/** Shows who decided, and the reason. For a reached limit the event's tool is the command `extend`, so it is named `limit increase` here. */
function decisionLine({ callId, tool, decision, by, reason }: Extract<RunEvent, { type: 'approval.decided' }>): string {
  const what = callId === BUDGET_APPROVAL ? 'limit increase' : terminalLine(tool);
  if (decision === 'expired') return `  ${what} denied (expired)`;
  return `  ${what} ${decision} by ${terminalLine(by)}${reason === undefined ? '' : `: ${short(reason)}`}`;
}

function questionLine({ question, choices = [], by, callId }: Extract<RunEvent, { type: 'question.asked' }>): string {
  const listed = choices.map((choice, index) => `${index + 1}. ${short(choice)}`).join(', ');
  const asker = by === 'agent' ? '' : `${terminalLine(by)}: `;
  return `  question: ${asker}${terminalLine(question)}${listed === '' ? '' : ` [${listed}]`} (${terminalLine(callId)})`;
}

function answerLine({ outcome, by, answer, reason }: Extract<RunEvent, { type: 'question.answered' }>): string {
  const text = answer ?? reason;
  if (outcome === 'expired') return '  question expired';
  return `  question ${terminalLine(outcome)} by ${terminalLine(by)}${text === undefined ? '' : `: ${short(text)}`}`;
}

/** The first 120 characters, on one line. */
function short(text: string): string {
  const line = terminalLine(text);
  return line.length <= SHORT_CHARS ? line : `${line.slice(0, SHORT_CHARS - 1)}…`;
}

/** A newer workflow may send event types that this version does not have. */
function unknownEvent(_event: never): undefined {
  return undefined;
}
