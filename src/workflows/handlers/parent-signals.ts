import { defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import type { RunInput } from '../../contracts/schemas/run.js';
import { PARENT_CONTINUED } from '../../contracts/text/ids.js';
import type { HandlerContext } from './handler-context.js';

/** Registers the signal with which a parent says that it continues as new. */
export function registerParentSignals({ input, inbox, parentContinued }: HandlerContext): void {
  if (input.parent === undefined) return;
  setHandler(
    defineSignal(PARENT_CONTINUED),
    () => {
      inbox.signals += 1;
      parentContinued.tell();
    },
    { description: 'The parent of this sub-agent continues as new. Not for operators.' },
  );
}

/** Why the run cannot be a sub-agent of the run that its input names; undefined when it can. */
export function parentProblem({ parent }: RunInput): string | undefined {
  if (parent === undefined || parent.runId === workflowInfo().parent?.workflowId) return undefined;
  return 'BAD_INPUT parent: only a run sets it, for its own sub-agents';
}
