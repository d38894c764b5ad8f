import type { RunEvent } from '../contracts/event.js';
import { formatBytes, formatDuration } from './format-amounts.js';
import { terminalLine } from './terminal-text.js';

/** One line for a person per event of a run; undefined for those that would only add noise. Text of models and tools is made safe. */
export function eventLine(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'run.started':
      return `agent ${terminalLine(event.agent)}, model ${terminalLine(event.model)}, at most ${event.maxTurns} turns`;
    case 'turn.started':
      return `turn ${event.turn}`;
    case 'model.failed':
      return `  model call failed: ${terminalLine(event.failure)}: ${terminalLine(event.message)}`;
    case 'tool.call':
      return `  ${terminalLine(event.title)}`;
    case 'tool.result':
      return `  → ${event.outcome}, ${formatDuration(event.durationMs)}, ${formatBytes(event.bytes)}`;
    case 'steer.accepted':
      return `message ${event.id} accepted, place ${event.position + 1}`;
    case 'steer.delivered':
      return `message ${event.id} read in turn ${event.turn}`;
    case 'finalise.warned':
      return `the model was told that ${event.remaining} turns remain`;
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
      return `caps raised: at most ${event.maxTurns} turns`;
    case 'cancel.requested':
      return `cancel requested${event.reason === '' ? '' : `: ${terminalLine(event.reason)}`}`;
    case 'model.completed':
    case 'turn.ended':
    case 'continued':
    case 'run.ended':
      return undefined;
    default:
      return unknownEvent(event);
  }
}

/** A newer workflow may tell of what this command line does not know. */
function unknownEvent(_event: never): undefined {
  return undefined;
}
