import { hostname } from 'node:os';
import type { ClientOptions, ClientPlugin } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { SimplePlugin } from '@temporalio/plugin';
import {
  type BundleOptions,
  type BundlerPlugin,
  NativeConnection,
  type ReplayWorkerOptions,
  type Worker,
  type WorkerOptions,
  type WorkerPlugin,
} from '@temporalio/worker';
import { AGENT_RUN } from '../contracts/handlers.js';
import type { BackgroundCommands } from '../tools/commands/background-commands.js';
import { withMcpServers } from './config/mcp-servers-of.js';
import { type AgentActivitiesOptions, createAgentActivities, WORKER_OPTIONS } from './create-worker.js';
import { checkBundle, neededWorkflows, requireExports } from './hosting/agent-export.js';
import { backgroundCommands } from './hosting/background-commands.js';
import { requireSandbox } from './hosting/require-sandbox.js';
import { sweepCommands } from './hosting/sweep-commands.js';
import { checkMissingPayloads } from './storage/missing-payloads.js';
import { createPayloadConverter } from './storage/payload-converter.js';
import { type PayloadStore, payloadStoreOf } from './storage/payload-store.js';
import { checkQueueStore, identityWithStore } from './storage/queue-store.js';
import { keepsPromiseStacks, payloadConverterPath, preloadedModules } from './workflow-bundle.js';

/**
 * Adds agent runs to an existing worker: activities, worker options, and shared modules in its workflow bundle. Options that the worker
 * sets take precedence. Its data converter is extended as by `createDataConverter`: its codecs come first, and its external storage is kept.
 * Give the plugin to clients of the same runs too. Its workflows file must contain `export { agentRun } from "perdure/workflows"`;
 * without it, `Worker.create` and `bundleWorkflowCode` reject with PerdureError `NO_AGENT_RUN` (2). A config with limits of tenants or
 * providers needs `tenantLedger` or `providerLedger` there too (`NO_LEDGER`).
 *
 * A worker is not created if large payloads cannot be stored (PerdureError `STORE_UNUSABLE`), or if another worker polls its queue and
 * stores them elsewhere (`STORE_DIFFERS`), or if the config names a sandbox that this machine cannot make (`SANDBOX`).
 */
export class PerdurePlugin implements WorkerPlugin, ClientPlugin, BundlerPlugin {
  readonly name = `perdure.${AGENT_RUN}`;
  readonly #base: SimplePlugin;
  readonly #store: PayloadStore;
  readonly #say: AgentActivitiesOptions['say'];
  readonly #needed: readonly string[];
  readonly #commands: BackgroundCommands;
  readonly #config: AgentActivitiesOptions['config'];

  constructor(options: AgentActivitiesOptions) {
    this.#say = options.say;
    this.#commands = backgroundCommands(options.stateDir);
    this.#needed = neededWorkflows(options.config.config);
    this.#config = options.config;
    this.#store = payloadStoreOf(options.config, options.stateDir);
    const dataConverter = (given: DataConverter | undefined): DataConverter => createPayloadConverter(this.#store.blobs, given);
    this.#base = new SimplePlugin({ name: this.name, activities: createAgentActivities(options), dataConverter });
  }

  async configureWorker(options: WorkerOptions): Promise<WorkerOptions> {
    if (options.workflowBundle) checkBundle(options.workflowBundle, this.#needed);
    await requireSandbox(this.#config.config, this.#say);
    const identity = identityWithStore(options.identity ?? `${process.pid}@${hostname()}`, await this.#store.id());
    await this.#checkQueue(options, identity);
    return this.#base.configureWorker({ ...WORKER_OPTIONS, ...options, identity });
  }

  /**
   * Background commands of runs that end without a word to this host are ended while the worker runs. MCP servers are ended with the last
   * worker that uses them.
   */
  async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const ended = new AbortController();
    const { connection } = worker;
    if (connection) {
      const { namespace } = worker.options;
      const say = this.#say ?? (() => undefined);
      void sweepCommands({ commands: this.#commands, connection, namespace, isNeeded: () => !ended.signal.aborted, say });
    }
    try {
      await withMcpServers(this.#config, async () => await this.#base.runWorker(worker, next));
    } finally {
      ended.abort();
    }
  }

  configureReplayWorker(options: ReplayWorkerOptions): ReplayWorkerOptions {
    return this.#base.configureReplayWorker(options);
  }

  configureClient(options: ClientOptions): ClientOptions {
    return this.#base.configureClient(options);
  }

  /**
   * All runs of a sandbox share the modules of this package. A bundle with a payload converter of its own keeps it: a payload that it
   * cannot decode then fails the workflow task.
   */
  configureBundler(options: BundleOptions): BundleOptions {
    const preloadModules = [...preloadedModules(keepsPromiseStacks()), ...(options.preloadModules ?? [])];
    return this.#base.configureBundler({
      ...options,
      preloadModules,
      payloadConverterPath: options.payloadConverterPath ?? payloadConverterPath(),
      webpackConfigHook: requireExports(options, this.#needed),
    });
  }

  async #checkQueue({ connection: given, namespace = 'default', taskQueue }: WorkerOptions, identity: string): Promise<void> {
    if (taskQueue === undefined) return;
    // without a connection, the SDK connects to the same default address later
    const connection = given ?? (await NativeConnection.connect());
    try {
      await checkQueueStore({ connection, namespace, taskQueue, identity, place: this.#store.place, say: this.#say });
      await checkMissingPayloads({ connection, namespace, taskQueue, identity, say: this.#say }, this.#store);
    } finally {
      if (!given) await connection.close();
    }
  }
}
