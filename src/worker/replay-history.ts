import { readFile } from 'node:fs/promises';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, makeTelemetryFilterString, type ReplayWorkerOptions, Runtime, Worker } from '@temporalio/worker';
import { PerdureError } from '../contracts/perdure-error.js';
import type { BlobStore } from './storage/blob-store.js';
import { createPayloadConverter } from './storage/payload-converter.js';
import { workflowBundle } from './workflow-bundle.js';

/** The result of one replay. `problem` describes where the current workflow code differs from the history. */
export interface Replayed {
  readonly file: string;
  readonly events: number;
  readonly problem?: string;
}

/** Options of `createReplayer`. */
export interface ReplayerOptions {
  /** The store of the large payloads in the histories. */
  readonly blobs: BlobStore;
  readonly say: (line: string) => void;
}

/**
 * Creates a function that replays a saved history with the current workflow code. The file is JSON from the Web UI or from
 * `temporal workflow show --output json`. Throws PerdureError `HISTORY` (2) for any other file.
 */
export async function createReplayer({ blobs, say }: ReplayerOptions): Promise<(file: string) => Promise<Replayed>> {
  const options: ReplayWorkerOptions = { workflowBundle: await workflowBundle(say), dataConverter: createPayloadConverter(blobs) };
  return async (file) => {
    const history = readHistory(file, await readText(file));
    const events = history.events?.length ?? 0;
    installRuntime();
    try {
      // the ids of sub-agents begin with that of their run
      await Worker.runReplayHistory(options, history, workflowIdOf(history) ?? file);
      return { file, events };
    } catch (error) {
      // the SDK exports this class only from its sandbox package
      if (error instanceof Error && error.name === 'DeterminismViolationError') return { file, events, problem: firstLine(error.message) };
      throw new PerdureError('REPLAY', `${file}: ${firstLine(error instanceof Error ? error.message : String(error))}`, 1);
    }
  };
}

function workflowIdOf({ events }: ReturnType<typeof readHistory>): string | undefined {
  return events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId ?? undefined;
}

let installed = false;

/**
 * What the SDK warns of is the answer itself. Without `forward` its core writes that to stdout, where only results belong.
 * A runtime keeps its process alive until a worker has ended: it is installed when there will be one.
 */
function installRuntime(): void {
  if (installed) return;
  installed = true;
  const logging = { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }), forward: {} };
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging } });
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new PerdureError('HISTORY', code === 'ENOENT' ? `${file} does not exist` : `${file} cannot be read (${code})`, 2, {
      cause: error,
    });
  }
}

function readHistory(file: string, text: string): ReturnType<typeof historyFromJSON> {
  try {
    const history = historyFromJSON(JSON.parse(text));
    if ((history.events?.length ?? 0) > 0) return history;
  } catch (error) {
    throw new PerdureError(
      'HISTORY',
      `${file}: not a workflow history in JSON: ${firstLine(error instanceof Error ? error.message : String(error))}`,
      2,
    );
  }
  throw new PerdureError('HISTORY', `${file}: the history has no events`, 2);
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 500);
}
