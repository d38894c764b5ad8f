import type { StreamEvent } from './stream.js';

/** Reads a stored event of a run. Undefined if the text is truncated, belongs to another run or is no event. Never throws. */
export function parseEvent(text: string, runId: string): StreamEvent | undefined {
  if (text === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isEvent(value) && value.runId === runId ? value : undefined;
  } catch {
    // a truncated line: its writer was killed, and the next writer started a new line
    return undefined;
  }
}

function isEvent(value: unknown): value is StreamEvent {
  if (typeof value !== 'object' || value === null || !('runId' in value && 'turn' in value && 'type' in value)) return false;
  return 'epoch' in value && Number.isSafeInteger(value.epoch) && 'seq' in value && Number.isSafeInteger(value.seq);
}
