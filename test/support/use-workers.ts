import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { afterEach } from 'vitest';
import type { RunEvent } from '../../src/contracts/event.js';
import type { Message } from '../../src/contracts/schemas/message.js';
import type { TranscriptPage } from '../../src/contracts/schemas/page.js';
import type { Progress, RunInput, RunResult } from '../../src/contracts/schemas/run.js';
import { type AgentWorker, type AgentWorkerOptions, startAgentWorker } from './agent-worker.js';

/** A started run, with what tests ask of it. */
export interface TestRun {
  readonly handle: WorkflowHandle;
  readonly runId: string;
  result(): Promise<RunResult>;
  progress(): Promise<Progress>;
  messages(): Promise<Message[]>;
  events(): Promise<readonly RunEvent[]>;
}

/** What opens the latches of the running test. */
const openings = new Set<() => void>();

/** Workers of one test file; all are stopped after each test. A call that a failed test still holds with a latch ends before. */
export function useWorkers() {
  const workers: AgentWorker[] = [];
  afterEach(async () => {
    for (const open of openings) open();
    openings.clear();
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });
  return {
    worker: async (options: AgentWorkerOptions): Promise<AgentWorker> => {
      const started = await startAgentWorker(options);
      workers.push(started);
      return started;
    },
    start: async (on: AgentWorker, input: Partial<RunInput> = {}): Promise<TestRun> => {
      const handle = await on.client.workflow.start('agentRun', {
        taskQueue: on.taskQueue,
        workflowId: `run-${randomUUID()}`,
        args: [{ task: 'do it', ...input }],
      });
      return testRun(handle);
    },
  };
}

/** A run that was started by other means, with what tests ask of it. */
export function testRun(handle: WorkflowHandle<() => Promise<RunResult>>): TestRun {
  return {
    handle,
    runId: handle.workflowId,
    result: () => handle.result(),
    progress: () => handle.query<Progress>('progress'),
    messages: async () => [...(await handle.query<TranscriptPage, [object]>('transcript', { from: 0, bytesMax: 150_000 })).messages],
    events: async () => (await handle.query<{ events: RunEvent[] }, [object]>('events', { after: 0 })).events,
  };
}

/** A promise that a test resolves: holds a model or tool until then. With `useWorkers`, at the latest after the test. */
export function latch(): { readonly opened: Promise<void>; open(): void } {
  let resolveOpened: (() => void) | undefined;
  const opened = new Promise<void>((resolve) => {
    resolveOpened = resolve;
  });
  const open = (): void => resolveOpened?.();
  openings.add(open);
  return { opened, open };
}

/** A condition is mostly a query: asked more often by many tests at once, the queries take the time of what they wait for. */
const UNTIL_EVERY_MS_MAX = 100;

/** Waits for a condition, asked at growing distances; fails after `timeoutMs` with what was asked. */
export async function until(condition: () => boolean | Promise<boolean>, what = 'the condition', timeoutMs = 30_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (let waitMs = 10; !(await condition()); waitMs = Math.min(waitMs * 1.5, UNTIL_EVERY_MS_MAX)) {
    if (Date.now() > end) throw new Error(`${what} did not come true in ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** Rejects when the signal aborts: what a model or tool does that heeds its signal. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
