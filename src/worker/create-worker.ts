import { hostname } from 'node:os';
import type { DataConverter } from '@temporalio/common';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { KeptResults } from '../activities/call-tool/kept-results.js';
import { createActivities } from '../activities/create-activities.js';
import { tenantRules } from '../activities/limits/tenant-limits.js';
import { type Authenticate, createAuthenticate, forgetOldSignatures, type Sign } from '../activities/prepare/authenticate.js';
import { createRecallTurns } from '../activities/prepare/offer/last-turns.js';
import { createPrepareRun } from '../activities/prepare/prepare-run.js';
import { createResolveModel } from '../activities/prepare/resolve-model.js';
import { createPrepareSession } from '../activities/sessions/prepare-session.js';
import type { AgentActivities } from '../contracts/activities.js';
import { hostQueueOf } from '../contracts/constants/host-queue.js';
import { WORKER_LIMITS } from '../contracts/constants/limits.js';
import { DEFAULT_TASK_QUEUE } from '../contracts/handlers.js';
import { signRequest } from '../contracts/signature.js';
import type { CompletionGate } from '../define/agent/completion-gate.js';
import type { GateFunction } from '../define/agent-gate.js';
import type { Config } from '../define/define-config.js';
import type { AnyToolDefinition } from '../define/define-tool.js';
import { modelFacts } from '../models/model-facts.js';
import { createProviderFor } from '../providers/access/provider-for.js';
import { workerSecrets } from '../providers/access/worker-secrets.js';
import type { StreamSink } from '../streams/stream.js';
import { updatePlan } from '../tools/update-plan.js';
import { withStateFolder } from '../tools/workspace/jail.js';
import type { LoadedConfig } from './config/load-config.js';
import { endMcpServers } from './config/mcp-servers-of.js';
import { prepareOptions } from './config/prepare-options.js';
import { providerRules } from './hosting/ask-provider-ledger.js';
import { backgroundCommands } from './hosting/background-commands.js';
import { requireSandbox } from './hosting/require-sandbox.js';
import { sweepCommands } from './hosting/sweep-commands.js';
import { listSearchAttributes } from './search-attributes.js';
import { openAuthKey } from './state-folder/auth-key.js';
import { stateFolder } from './state-folder/state-folder.js';
import { createArtifactStore } from './storage/artifact-store.js';
import { checkMissingPayloads } from './storage/missing-payloads.js';
import { createPayloadConverter } from './storage/payload-converter.js';
import { payloadStoreOf } from './storage/payload-store.js';
import { checkQueueStore, identityWithStore } from './storage/queue-store.js';
import { streamSink } from './storage/stream-sink.js';
import { workflowBundle } from './workflow-bundle.js';

/** Options of `createAgentActivities`. */
export interface AgentActivitiesOptions {
  readonly config: LoadedConfig;
  /** The folder of token streams and large payloads. */
  readonly stateDir: string;
  /** The search attributes that are registered on the server. Only these are written. */
  readonly searchAttributes: readonly string[];
  /** The queue of this host for workspace tools and child processes. @default the task queue of the run */
  readonly toolQueue?: string;
  /**
   * Time without a heartbeat after which a worker is lost, in milliseconds, for agents that set none. 30 s finds a dead process soon where
   * nothing else reports it. A longer one survives outages of the server. @default `limits.heartbeatTimeoutMs` of the config, else 30 s
   */
  readonly heartbeatTimeoutMs?: number;
  /**
   * True if starts with a workspace, approvals and extensions need the signature of the state folder's owner, because the server itself
   * asks nobody who they are. `perdure` sets it for the embedded server. @default false
   */
  readonly requireSignatures?: boolean;
  /** Receives the tokens of all runs, in place of the sinks named here. @default files of the state folder, and `streams` of the config */
  readonly streams?: StreamSink;
  /** Receives notices for the operator, one line each. @default none */
  readonly say?: (line: string) => void;
  /**
   * Changes each tool, for example to observe it in a test.
   *
   * @internal
   */
  readonly wrapTool?: (tool: AnyToolDefinition) => AnyToolDefinition;
}

/** Options of `createWorker`. */
export interface CreateWorkerOptions extends Omit<AgentActivitiesOptions, 'searchAttributes' | 'toolQueue'> {
  readonly connection: NativeConnection;
  readonly namespace?: string;
  /** @default `perdure` */
  readonly taskQueue?: string;
  readonly identity?: string;
  /**
   * True if several hosts poll the task queue. Workspace tools and child processes then run on the queue `perdure@<host>` of the host
   * that prepared the run. The embedded server has one worker and needs no second queue. @default false
   */
  readonly manyHosts?: boolean;
  readonly overrides?: Partial<WorkerOptions>;
}

/** The SDK reads this option and has no type for it. */
const UNTYPED_OPTIONS = { isolateExecutionTimeout: WORKER_LIMITS.workflowCodeMsMax };

/** The worker options that agent runs need. limits.ts gives the reason for each. */
export const WORKER_OPTIONS = {
  maxHeartbeatThrottleInterval: WORKER_LIMITS.heartbeatThrottleMsMax,
  stickyQueueScheduleToStartTimeout: WORKER_LIMITS.stickyQueueScheduleToStartMs,
  shutdownGraceTime: WORKER_LIMITS.shutdownGraceMs,
  shutdownForceTime: WORKER_LIMITS.shutdownForceMs,
  ...UNTYPED_OPTIONS,
  maxCachedWorkflows: WORKER_LIMITS.cachedWorkflowsMax,
  maxConcurrentActivityTaskExecutions: WORKER_LIMITS.activitiesMax,
} as const satisfies Partial<WorkerOptions>;

/** Creates the activities of agent runs, for a worker that you create yourself. */
export function createAgentActivities(options: AgentActivitiesOptions): AgentActivities {
  const { config, keys, env } = options.config;
  const say = options.say ?? (() => undefined);
  const modelIdleMs = config.limits?.modelIdleMs;
  const heartbeatTimeoutMs = options.heartbeatTimeoutMs ?? config.limits?.heartbeatTimeoutMs;
  const artifacts = createArtifactStore(options.config, options.stateDir);
  const authenticate = options.requireSignatures ? authenticateOf(options.stateDir) : undefined;
  const background = backgroundCommands(options.stateDir);
  const prepared = prepareOptions(options.config, artifacts, background);
  const { workspaceTools, listedTools, readArtifact, readSkill, memoryTools, mcpTools } = prepared;
  const ofLists = listedTools.map(({ tool }) => tool);
  const wrap = options.wrapTool ?? ((tool) => tool);
  const activities = createActivities({
    prepareRun: createPrepareRun({
      ...prepared,
      searchAttributes: options.searchAttributes,
      recallTurns: createRecallTurns({ isSearchable: options.searchAttributes.includes('AgentName') }),
      ...(authenticate ? { authenticate } : {}),
      ...(options.toolQueue === undefined ? {} : { toolQueue: options.toolQueue }),
      ...(heartbeatTimeoutMs === undefined ? {} : { heartbeatTimeoutMs }),
    }),
    prepareSession: createPrepareSession({
      config,
      searchAttributes: options.searchAttributes,
      ...(authenticate ? { authenticate } : {}),
    }),
    factsOf: (model) => modelFacts(model, config),
    ...(authenticate ? { authenticate, sign: signWith(options.stateDir) } : {}),
    resolveModel: createResolveModel({ config, keys, env }),
    tenants: tenantRules(config),
    ...providerRules(config),
    tools: [...(config.tools ?? []), ...workspaceTools, ...ofLists, ...memoryTools, updatePlan, readArtifact, readSkill].map(wrap),
    ...(mcpTools && { mcpTools: { get: (name) => wrapped(mcpTools.get(name), wrap) }, mcpLists: { config, mcpTools } }),
    artifacts,
    secrets: workerSecrets({ keys, env: process.env }),
    ...(config.hooks === undefined ? {} : { hooks: config.hooks }),
    ...(config.compactor === undefined ? {} : { compactor: config.compactor }),
    gates: gateFunctions(config),
    completionGates: completionGates(config),
    providerFor: createProviderFor({ config, env, keys }),
    streams: options.streams ?? streamSink(options.config, { stateDir: options.stateDir, say }),
    roomIn: [options.stateDir, ...(config.artifacts && 'folder' in config.artifacts ? [config.artifacts.folder] : [])],
    endRun: (run) => background.endRun(run),
    results: keptResults(stateFolder(options.stateDir).results, say),
    ...(options.toolQueue === undefined ? {} : { hostQueue: options.toolQueue }),
    ...(modelIdleMs === undefined ? {} : { modelIdleMs }),
  });
  return hidingState(activities, options.stateDir);
}

/** The activities of a worker, whose tools cannot reach its state folder. */
function hidingState(activities: AgentActivities, stateDir: string): AgentActivities {
  // functions by name, before and after
  const byName = activities as unknown as Readonly<Record<string, (input: never) => unknown>>;
  const hiding = Object.entries(byName).map(([name, activity]) => {
    return [name, (input: never) => withStateFolder(stateDir, () => activity(input))] as const;
  });
  return Object.fromEntries(hiding) as unknown as AgentActivities;
}

function wrapped(tool: AnyToolDefinition | undefined, wrap: (tool: AnyToolDefinition) => AnyToolDefinition): AnyToolDefinition | undefined {
  return tool && wrap(tool);
}

/** The check of signatures with the key of a folder, which is made with the first worker. */
function authenticateOf(stateDir: string): Authenticate {
  const { authKey, signatures, schedules } = stateFolder(stateDir);
  void forgetOldSignatures(signatures);
  return async (input, sentAt) =>
    await createAuthenticate({ key: await openAuthKey(authKey), folder: signatures, schedules })(input, sentAt);
}

/** Signs with the key of a folder. */
function signWith(stateDir: string): Sign {
  return async (request) => signRequest(await openAuthKey(stateFolder(stateDir).authKey), request, Date.now());
}

const resultsByFolder = new Map<string, KeptResults>();

/** The results of finished tool calls, which all workers of this process with the same folder share: any of them may be asked for one. */
function keptResults(folder: string, say: (line: string) => void): KeptResults {
  const onError = (error: unknown): void => say(`cannot keep tool results in ${folder}, they are kept in memory only: ${String(error)}`);
  const results = resultsByFolder.get(folder) ?? new KeptResults({ folder, onError });
  resultsByFolder.set(folder, results);
  return results;
}

function gateFunctions({ agents = {} }: Config): ReadonlyMap<string, GateFunction> {
  const gates = Object.entries(agents).map(([name, { gate }]) => [name, gate] as const);
  return new Map(gates.flatMap(([name, gate]) => (typeof gate === 'function' ? [[name, gate] as const] : [])));
}

function completionGates({ agents = {} }: Config): ReadonlyMap<string, CompletionGate> {
  const gates = Object.entries(agents).map(([name, { completionGate }]) => [name, completionGate] as const);
  return new Map(gates.flatMap(([name, gate]) => (gate === undefined ? [] : [[name, gate] as const])));
}

/**
 * Creates a worker that runs agents: workflows from the prebuilt bundle, activities from the config. It polls after `run()` is called.
 * `shutdown()` waits up to 30 s for running calls, then aborts them. An aborted call is not reported as cancelled by a user. A data
 * converter in `overrides` is extended as by `createDataConverter`. Throws PerdureError `STORE_UNUSABLE` (2, 5) if large payloads cannot be
 * stored, `STORE_DIFFERS` (2) if another worker stores them elsewhere, and polls the queue or has an open run there, and `SANDBOX` (2) if the config names a sandbox
 * that this machine cannot make.
 */
export async function createWorker(options: CreateWorkerOptions): Promise<Worker> {
  const { connection, namespace = 'default', taskQueue = DEFAULT_TASK_QUEUE, say = () => undefined } = options;
  const store = await workerStore(options);
  const toolQueue = options.manyHosts ? hostQueue() : undefined;
  await requireSandbox(options.config.config, say);
  for (const notice of options.config.notices ?? []) say(notice);
  const queue = { connection, namespace, taskQueue, ...otherQueue(options.overrides), say };
  const [bundle, searchAttributes] = await Promise.all([
    workflowBundle(say),
    listSearchAttributes(connection, namespace),
    checkQueueStore({ ...queue, ...store }),
    checkMissingPayloads(
      { ...queue, identity: options.manyHosts ? store.identity : undefined },
      payloadStoreOf(options.config, options.stateDir),
    ),
  ]);
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: bundle,
    activities: createAgentActivities({ ...options, searchAttributes, ...(toolQueue === undefined ? {} : { toolQueue }) }),
    ...WORKER_OPTIONS,
    ...options.overrides,
    plugins: [...(options.overrides?.plugins ?? []), endMcpServers(options.config)],
    identity: store.identity,
    dataConverter: store.dataConverter,
  });
  void sweepCommands({ commands: backgroundCommands(options.stateDir), connection, namespace, isNeeded: () => !hasEnded(worker), say });
  return worker;
}

function hasEnded(worker: Worker): boolean {
  return ['DRAINED', 'STOPPED', 'FAILED'].includes(worker.getState());
}

/** The large payloads of a worker: their store, the identity that shows it to other workers, and the data converter that uses it. */
async function workerStore({ config, stateDir, identity, overrides = {} }: CreateWorkerOptions): Promise<WorkerStore> {
  const store = payloadStoreOf(config, stateDir);
  const name = overrides.identity ?? identity ?? `${process.pid}@${hostname()}`;
  return {
    place: store.place,
    identity: identityWithStore(name, await store.id()),
    dataConverter: createPayloadConverter(store.blobs, overrides.dataConverter),
  };
}

/** The queue of a worker whose overrides name another one. */
function otherQueue({ namespace, taskQueue }: Partial<WorkerOptions> = {}): { namespace?: string; taskQueue?: string } {
  return { ...(namespace === undefined ? {} : { namespace }), ...(taskQueue === undefined ? {} : { taskQueue }) };
}

interface WorkerStore {
  readonly place: string;
  readonly identity: string;
  readonly dataConverter: DataConverter;
}

/**
 * Creates a second worker in the same process. It polls the queue of this host for workspace tools, for agents that run as child processes,
 * and for runs that name this host.
 */
export async function createHostWorker(options: CreateWorkerOptions): Promise<Worker> {
  const { connection, namespace = 'default' } = options;
  const taskQueue = options.overrides?.taskQueue ?? hostQueue();
  const [store, searchAttributes] = await Promise.all([workerStore(options), listSearchAttributes(connection, namespace)]);
  const { prepareRun, callModel, callTool, reconcileTool, recallResult, awaitRoom, endCommands } = createAgentActivities({
    ...options,
    searchAttributes,
    toolQueue: taskQueue,
  });
  return await Worker.create({
    connection,
    namespace,
    taskQueue,
    activities: { prepareRun, callModel, callTool, reconcileTool, recallResult, awaitRoom, endCommands },
    ...WORKER_OPTIONS,
    ...options.overrides,
    plugins: [...(options.overrides?.plugins ?? []), endMcpServers(options.config)],
    identity: store.identity,
    dataConverter: store.dataConverter,
  });
}

/** The task queue of this host: `perdure@<host>`. */
export function hostQueue(): string {
  return hostQueueOf(hostname());
}
