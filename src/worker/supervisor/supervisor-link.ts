import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import {
  type EmbeddedHosting,
  isMessage,
  type RunningCall,
  type SharedHosting,
  SUPERVISED_VARIABLE,
  type TurnMessage,
  type WorkerMessage,
} from './messages.js';

/** The link of a worker process to its supervisor. No method throws, also after the supervisor is gone. */
export interface SupervisorLink {
  /** Reports that this process is loaded, and resolves when it is to poll. A spare waits here. Also resolves when `signal` aborts. */
  takeTurn(hosting: SharedHosting | EmbeddedHosting, signal: AbortSignal): Promise<void>;
  /** Reports that this process works. */
  reportWorking(): void;
  /** Reports the start and the end of each activity of a worker. */
  readonly reportActivities: ActivityInterceptorsFactory;
  /** Closes the link. Without it, the open pipe would keep the process alive. */
  close(): void;
}

/**
 * The link to the supervisor that started this process, or undefined. Call it once, at the start. `onLost` is called when the supervisor
 * is gone: then nothing starts the next worker, so this process must stop in an orderly way.
 */
export function linkToSupervisor(onLost: () => void, env: NodeJS.ProcessEnv = process.env): SupervisorLink | undefined {
  const isSupervised = env[SUPERVISED_VARIABLE] !== undefined && process.connected;
  // child processes of tools must not take themselves for supervised
  delete env[SUPERVISED_VARIABLE];
  return isSupervised ? new ProcessLink(onLost) : undefined;
}

class ProcessLink implements SupervisorLink {
  readonly #turn: Promise<void>;
  #isClosed = false;

  constructor(onLost: () => void) {
    process.once('disconnect', () => {
      if (!this.#isClosed) onLost();
    });
    this.#turn = new Promise((resolve) => {
      process.on('message', (message: unknown) => {
        if (isMessage<TurnMessage>(message, 'turn')) resolve();
      });
    });
  }

  async takeTurn(hosting: SharedHosting | EmbeddedHosting, signal: AbortSignal): Promise<void> {
    this.#send({ type: 'ready', hosting });
    if (signal.aborted) return;
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([this.#turn, aborted]);
  }

  reportWorking(): void {
    this.#send({ type: 'working' });
  }

  readonly reportActivities: ActivityInterceptorsFactory = ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        const { workflowExecution: run, activityId, activityType: activity } = info;
        // only an activity of a workflow is handed back to one
        if (!run) return await next(input);
        const call: RunningCall = { run: { workflowId: run.workflowId, runId: run.runId }, activityId, activity };
        this.#send({ type: 'started', call });
        try {
          return await next(input);
        } finally {
          this.#send({ type: 'ended', call });
        }
      },
    },
  });

  close(): void {
    this.#isClosed = true;
    if (process.connected) process.disconnect();
  }

  /** A message to a supervisor that is gone is dropped: `disconnect` reports that. Without the callback, Node would throw. */
  #send(message: WorkerMessage): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  }
}
