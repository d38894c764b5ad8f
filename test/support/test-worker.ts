import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

// once for each process of tests, whose files share it
Runtime.install({ logger: new DefaultLogger('ERROR') });
forgetContextOnClose();

const IN_THIS_THREAD = { debugMode: true, isolateExecutionTimeout: '5s' };

/**
 * Creates a worker whose workflow code runs in the SDK's sandbox, but in the test's thread. All workers of the process with the same
 * bundle share one sandbox, as the runs of one worker do: a thread and a sandbox of its own take ten times as long as the rest of the
 * start. The bound on code that never yields stays. Commands in `test/e2e` use threads.
 */
export function createTestWorker(options: WorkerOptions): Promise<Worker> {
  return TestWorker.create({ ...options, ...IN_THIS_THREAD });
}

/** Replays a history in the same sandbox. Rejects when the workflow code makes other commands than the history has. */
export function replayHistory(codePath: string, ...[history, workflowId]: Tail<Parameters<typeof Worker.runReplayHistory>>): Promise<void> {
  return TestWorker.runReplayHistory({ workflowBundle: { codePath }, ...IN_THIS_THREAD }, history, workflowId);
}

type Tail<List extends readonly unknown[]> = List extends readonly [unknown, ...infer Rest] ? Rest : never;

class TestWorker extends Worker {
  static readonly #bundles = new Map<string, ReturnType<typeof Worker.getOrCreateBundle>>();
  static readonly #sandboxes = new Map<string, ReturnType<typeof Worker.createWorkflowCreator>>();

  protected static override getOrCreateBundle(
    ...args: Parameters<typeof Worker.getOrCreateBundle>
  ): ReturnType<typeof Worker.getOrCreateBundle> {
    const path = bundlePath(args[0]);
    return path === undefined ? super.getOrCreateBundle(...args) : once(this.#bundles, path, () => super.getOrCreateBundle(...args));
  }

  protected static override createWorkflowCreator(
    ...args: Parameters<typeof Worker.createWorkflowCreator>
  ): ReturnType<typeof Worker.createWorkflowCreator> {
    const path = bundlePath(args[1]);
    if (path === undefined) return super.createWorkflowCreator(...args);
    const activities = Array.from(args[1].activities.keys()).toSorted();
    return once(this.#sandboxes, JSON.stringify([path, activities]), async () => {
      const sandbox = await super.createWorkflowCreator(...args);
      // their hook notes the stack of each promise of this thread, also of other tests, for a query that no test sends
      globalHandlers.uninstall();
      // a worker that ends leaves it to the others
      return { createWorkflow: sandbox.createWorkflow.bind(sandbox), destroy: () => Promise.resolve() };
    });
  }
}

function bundlePath({ workflowBundle }: Pick<WorkerOptions, 'workflowBundle'>): string | undefined {
  return workflowBundle && 'codePath' in workflowBundle ? workflowBundle.codePath : undefined;
}

function once<Value>(made: Map<string, Value>, key: string, make: () => Value): Value {
  const value = made.get(key) ?? make();
  made.set(key, value);
  return value;
}

/**
 * A native connection that was closed leaves its context behind, and in Node 20 each promise of the process is told to each context. After
 * the workers of 80 test files, a test took three times as long.
 */
function forgetContextOnClose(): void {
  const close = Object.getOwnPropertyDescriptor(NativeConnection.prototype, 'close')?.value as NativeConnection['close'];
  NativeConnection.prototype.close = async function closeAndForget(this: NativeConnection): Promise<void> {
    await close.call(this);
    this.callContextStorage.disable();
  };
}
