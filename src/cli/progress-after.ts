import type { RunEvent } from '../contracts/event.js';
import type { Progress } from '../contracts/schemas/run.js';

/** Progress is asked for once a second; between two answers the events say which turn and tool it is. Pure. */
export function progressAfter(progress: Progress, event: RunEvent): Progress {
  const { tool: _tool, waitingFor: _waitingFor, ...rest } = progress;
  if (event.type === 'turn.started') return { ...rest, turn: event.turn, phase: 'model' };
  if (event.type === 'tool.call') return { ...rest, turn: event.turn, phase: 'tools', tool: event.title };
  return progress;
}
