import { setTimeout as delay } from 'node:timers/promises';
import type { RunHandle } from '../../client/run-handle.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { formatBytes } from '../display/format.js';

/** How often the server is asked. A worker sends heartbeats at most this often. */
const EVERY_MS = 2_000;

/** A display of running calls. */
export interface CallProgressDisplay {
  /** True while a call runs. */
  readonly isCalling: boolean;
  setCallProgress(text: string | undefined): void;
}

/** Shows what a running call reports with its heartbeats, until the signal aborts. A request that fails shows nothing. */
export async function showCallProgress(run: Pick<RunHandle, 'describe'>, display: CallProgressDisplay, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const text = display.isCalling ? await reported(run) : undefined;
    if (!signal.aborted) display.setCallProgress(text);
    await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function reported(run: Pick<RunHandle, 'describe'>): Promise<string | undefined> {
  try {
    const { pending } = await run.describe();
    const text = pending.map(({ progress }) => progress ?? '').find((progress) => progress !== '');
    return text === undefined ? undefined : progressText(text);
  } catch (error) {
    // the watch reports a server that is not reachable
    if (error instanceof PerdureError) return undefined;
    throw error;
  }
}

/** The last line of a command and the size of its output, or the text as the tool gave it. Pure. */
export function progressText(text: string): string {
  if (!text.startsWith('{')) return text;
  const { lastLine, outputBytes } = parsed(text);
  if (typeof lastLine !== 'string' || typeof outputBytes !== 'number') return text;
  return lastLine === '' ? formatBytes(outputBytes) : `${lastLine}  (${formatBytes(outputBytes)})`;
}

/** Details that were cut are no JSON. */
function parsed(text: string): { readonly lastLine?: unknown; readonly outputBytes?: unknown } {
  try {
    // an object: the text begins with a brace
    return JSON.parse(text) as object;
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
