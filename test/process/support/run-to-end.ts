import { type ProcessOrder, type ProcessTreeEnd, runProcessTree } from '../../../src/process/process-tree.js';
import { tempWorkspace } from '../../tools/support/temp-workspace.js';

/** How a command ended, and what it printed. */
export interface Ended extends ProcessTreeEnd {
  readonly output: string;
}

/** Runs what a sandbox ordered, until it ends or is aborted. */
export async function runToEnd(order: ProcessOrder, folder: string, signal = new AbortController().signal): Promise<Ended> {
  const workspace = await tempWorkspace();
  const output = workspace.context().output.collect({ keep: 'head-tail' });
  const end = await runProcessTree({ order, folder, timeoutMs: 20_000, signal, output, outputBytesMax: 20_000_000 });
  return { ...end, output: await output.finish() };
}
