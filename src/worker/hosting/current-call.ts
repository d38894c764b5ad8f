import { AsyncLocalStorage } from 'node:async_hooks';

/** A call that runs in this process: an activity, and its tool if it runs one. */
export interface RunningCall {
  readonly runId: string;
  /** The type of the activity. */
  readonly activity: string;
  readonly tool?: string;
  readonly callId?: string;
}

/** The call for people: `TOOL of RUN`, or `ACTIVITY of RUN` for a call that runs no tool, such as a gate. */
export function callLabel({ runId, activity, tool }: RunningCall): string {
  return `${activity === 'callTool' && tool !== undefined ? tool : activity} of ${runId}`;
}

const calls = new AsyncLocalStorage<RunningCall>();

/** Runs the work of a call. All code that it starts, also after its end, belongs to the call. */
export function withinCall<T>(call: RunningCall, work: () => T): T {
  return calls.run(call, work);
}

/** The call that the current code belongs to, if any. */
export function currentCall(): RunningCall | undefined {
  return calls.getStore();
}
