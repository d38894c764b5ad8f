import { defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import type { RunInput } from '../../contracts/schemas/run.js';
import { PARENT_CONTINUED } from '../../contracts/text/ids.js';
import type { HandlerContext } from './handler-context.js';

/**
 * Registers the signal with which a parent says that it continues as new. Temporal then cancels the sub-agent, as it does when the parent
 * ends: this cancellation is not meant.
 */
export function registerParentSignals(context: HandlerContext): void {
  if (context.input.parent === undefined) return;
  setHandler(
    defineSignal(PARENT_CONTINUED),
    () => {
      context.inbox.signals += 1;
      context.ignoresCancel = true;
      if (context.run) context.run.awaitsCancel = true;
    },
    { description: 'The parent of this sub-agent continues as new. Not for operators.' },
  );
}

/**
 * True once for a cancellation of Temporal that only says that the parent continued as new. The server keeps no second cancellation of a
 * history, so the run then continues in a fresh one.
 */
export function takeIgnoredCancel(context: HandlerContext): boolean {
  if (!context.ignoresCancel) return false;
  context.ignoresCancel = false;
  context.continuesSoon = true;
  if (context.run) {
    context.run.awaitsCancel = false;
    context.run.continuesSoon = true;
  }
  return true;
}

/** Why the run cannot be a sub-agent of the run that its input names; undefined when it can. */
export function parentProblem({ parent }: RunInput): string | undefined {
  if (parent === undefined || parent.runId === workflowInfo().parent?.workflowId) return undefined;
  return 'BAD_INPUT parent: only a run sets it, for its own sub-agents';
}
