import { type ProcessTreeEnd, type ProcessTreeOptions, runProcessTree } from '../../../src/process/process-tree.js';
import type { CommandView, Sandbox } from '../../../src/process/sandbox/sandbox.js';
import { tempWorkspace } from '../../tools/support/temp-workspace.js';

/** How a command ended, and what the model reads of its output. */
export interface EndedTree extends ProcessTreeEnd {
  /** Empty if the output was given. */
  readonly output: string;
}

/** Runs a command in a workspace of its own, without a network. By default it has 20 s and may print 20 MB. */
export async function runTree(
  sandbox: Sandbox,
  command: string,
  options: Partial<ProcessTreeOptions> = {},
  view: Partial<CommandView> = {},
): Promise<EndedTree> {
  const workspace = await tempWorkspace();
  const output = workspace.context().output.collect({ keep: 'head-tail' });
  const folder = options.folder ?? workspace.root;
  const end = await runProcessTree({
    order: sandbox.order(command, { folder, shown: [], writable: [folder], readOnly: [], hidden: [], network: { kind: 'none' }, ...view }),
    folder,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    output,
    outputBytesMax: 20_000_000,
    ...options,
  });
  return { ...end, output: options.output ? '' : await output.finish() };
}
