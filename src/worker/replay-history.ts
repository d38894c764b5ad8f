import { readFile } from 'node:fs/promises';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, makeTelemetryFilterString, type ReplayWorkerOptions, Runtime, Worker } from '@temporalio/worker';
import { PerdureError } from '../contracts/perdure-error.js';
import { createDataConverter } from './data-converter.js';
import { workflowBundle } from './workflow-bundle.js';

/** What replaying one history found. `problem`: where the present code does something else than the history. */
export interface Replayed {
  readonly file: string;
  readonly events: number;
  readonly problem?: string;
}

/** Options of `createReplayer`. */
export interface ReplayerOptions {
  /** Where large payloads of the history were kept. */
  readonly artifactsDir: string;
  readonly say: (line: string) => void;
}

/**
 * Makes a function that replays a saved history (JSON, as the Web UI and `temporal workflow show --output json` give it) with the
 * present workflow code. It throws PerdureError `HISTORY` (2) for a file that is none.
 */
export async function createReplayer({ artifactsDir, say }: ReplayerOptions): Promise<(file: string) => Promise<Replayed>> {
  const options: ReplayWorkerOptions = { workflowBundle: await workflowBundle(say), dataConverter: createDataConverter({ artifactsDir }) };
  return async (file) => {
    const history = readHistory(file, await readText(file));
    const events = history.events?.length ?? 0;
    installRuntime();
    try {
      await Worker.runReplayHistory(options, history, file);
      return { file, events };
    } catch (error) {
      // the SDK exports this class from its sandbox package only
      if (error instanceof Error && error.name === 'DeterminismViolationError') return { file, events, problem: firstLine(error.message) };
      throw new PerdureError('REPLAY', `${file}: ${firstLine(error instanceof Error ? error.message : String(error))}`, 1);
    }
  };
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
    throw new PerdureError('HISTORY', `${file}: ${error instanceof Error ? error.message : String(error)}`, 2);
  }
}

function readHistory(file: string, text: string): ReturnType<typeof historyFromJSON> {
  try {
    const history = historyFromJSON(JSON.parse(text));
    if ((history.events?.length ?? 0) > 0) return history;
  } catch (error) {
    throw new PerdureError(
      'HISTORY',
      `${file}: no history in JSON: ${firstLine(error instanceof Error ? error.message : String(error))}`,
      2,
    );
  }
  throw new PerdureError('HISTORY', `${file}: a history without events`, 2);
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 500);
}
