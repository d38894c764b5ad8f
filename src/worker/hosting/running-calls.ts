import { asyncLocalStorage, Context } from '@temporalio/activity';
import { ActivityCancellationDetails, CancelledFailure } from '@temporalio/common';
import type { ActivityExecuteInput, ActivityInterceptorsFactory } from '@temporalio/worker';
import { callLabel, type RunningCall, withinCall } from './current-call.js';
import { endCallOutput } from './redirect-output.js';

type Next = (input: ActivityExecuteInput) => Promise<unknown>;

/**
 * The calls that the workers of a process run. Give `interceptor` to each worker. Unlike the SDK, which fixes the grace time of a worker
 * when it creates it, `abort` ends the calls at any time after the worker stopped polling.
 */
export class RunningCalls {
  readonly #running = new Map<RunningCall, AbortController>();
  #aborted = false;

  readonly interceptor: ActivityInterceptorsFactory = (context) => ({
    inbound: { execute: (input, next) => this.#run(context, input, next) },
  });

  /** The running calls as text, such as `run_command of RUN`. */
  list(): string[] {
    return Array.from(this.#running.keys(), callLabel);
  }

  /** Aborts all calls, as a shutdown of the worker does: they fail with `Worker.Shutdown`, and their runs decide by the effect. Idempotent. */
  abort(): void {
    this.#aborted = true;
    for (const stop of this.#running.values()) stop.abort(new CancelledFailure('WORKER_SHUTDOWN'));
  }

  async #run(context: Context, input: ActivityExecuteInput, next: Next): Promise<unknown> {
    const call = callOf(context, input.args[0]);
    const stop = new AbortController();
    const { cancellationSignal } = context;
    const onCancelled = (): void => stop.abort(cancellationSignal.reason);
    if (cancellationSignal.aborted) onCancelled();
    else cancellationSignal.addEventListener('abort', onCancelled, { once: true });
    this.#running.set(call, stop);
    try {
      return await asyncLocalStorage.run(this.#stoppable(context, stop.signal), () => withinCall(call, () => next(input)));
    } finally {
      this.#running.delete(call);
      cancellationSignal.removeEventListener('abort', onCancelled);
      endCallOutput(call);
    }
  }

  /** The context of a call with a signal that `abort` also aborts. */
  #stoppable(context: Context, signal: AbortSignal): Context {
    const isAborted = (): boolean => this.#aborted && !context.cancellationSignal.aborted;
    const details = {
      get details() {
        if (isAborted()) return new ActivityCancellationDetails({ workerShutdown: true });
        return context.cancellationDetails ?? new ActivityCancellationDetails();
      },
    };
    const { info, cancelled, heartbeat, client, log, metricMeter } = context;
    return new Context(info, cancelled, signal, heartbeat, client, log, metricMeter, details);
  }
}

/** Prints the calls that a stopping worker waits for, if any. */
export function sayRunning(calls: RunningCalls, say: (line: string) => void): void {
  const running = calls.list();
  if (running.length > 0) say(`waiting for running calls: ${running.join(', ')} (a second Ctrl-C exits without them)`);
}

function callOf({ info }: Context, input: unknown): RunningCall {
  const { tool, callId } = textsOf(input);
  return {
    runId: info.workflowExecution?.workflowId ?? info.activityId,
    activity: info.activityType,
    ...(tool === undefined ? {} : { tool }),
    ...(callId === undefined ? {} : { callId }),
  };
}

/** The input of an activity that runs a tool names the tool and the call. */
function textsOf(input: unknown): { readonly tool?: string; readonly callId?: string } {
  if (typeof input !== 'object' || input === null) return {};
  return {
    ...('tool' in input && typeof input.tool === 'string' ? { tool: input.tool } : {}),
    ...('callId' in input && typeof input.callId === 'string' ? { callId: input.callId } : {}),
  };
}
