import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { inject } from 'vitest';
import type { z } from 'zod';
import { type ActivitiesOptions, createActivities } from '../../src/activities/create-activities.js';
import type { ProviderRules } from '../../src/activities/limits/provider-gate.js';
import type { TenantRules } from '../../src/activities/limits/tenant-limits.js';
import type { McpTools } from '../../src/activities/mcp/mcp-tools.js';
import type { Authenticate, Sign } from '../../src/activities/prepare/authenticate.js';
import { createRecallTurns } from '../../src/activities/prepare/offer/last-turns.js';
import { describeTool } from '../../src/activities/prepare/offer/tool-descriptor.js';
import { createPrepareRun } from '../../src/activities/prepare/prepare-run.js';
import { hookFlags } from '../../src/activities/prepare/run-policy.js';
import { failure } from '../../src/activities/runtime/failures.js';
import { createPrepareSession } from '../../src/activities/sessions/prepare-session.js';
import type { ArtifactStore } from '../../src/artifacts/artifact-store.js';
import { FileArtifactStore } from '../../src/artifacts/file-artifact-store.js';
import type { AgentActivities, ResolveModelResult } from '../../src/contracts/activities.js';
import { CAPABILITY_LEVEL, clampPolicy } from '../../src/contracts/capability-level.js';
import { MODEL_LIMITS, RUN_LIMITS, WORKER_LIMITS } from '../../src/contracts/constants/limits.js';
import { SEARCH_ATTRIBUTES } from '../../src/contracts/constants/search-attributes.js';
import { hashJson } from '../../src/contracts/digest.js';
import { textOf } from '../../src/contracts/message-text.js';
import type { Part } from '../../src/contracts/schemas/message.js';
import { RunPolicy } from '../../src/contracts/schemas/policy.js';
import type { PreparedRun } from '../../src/contracts/schemas/prepared-run.js';
import { RunInput } from '../../src/contracts/schemas/run.js';
import type { SecretMask } from '../../src/contracts/text/secret-mask.js';
import type { CustomCompactor } from '../../src/define/agent/compactor.js';
import type { CompletionGate } from '../../src/define/agent/completion-gate.js';
import type { GateFunction } from '../../src/define/agent-gate.js';
import type { Config } from '../../src/define/define-config.js';
import type { HookDefinition } from '../../src/define/define-hook.js';
import type { AnyToolDefinition } from '../../src/define/define-tool.js';
import { captureKeys } from '../../src/providers/access/key-ring.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from '../../src/providers/contract/provider.js';
import type { StreamSink } from '../../src/streams/stream.js';
import { askUser } from '../../src/tools/ask-user.js';
import type { BackgroundCommands } from '../../src/tools/commands/background-commands.js';
import { sleep } from '../../src/tools/sleep.js';
import { POLICY_OF_0_1 } from '../../src/workflows/policies/policy-baseline.js';
import { createTestWorker } from './test-worker.js';

/** What a test says of its worker. The model is a function of the request: a fake of our own interface. */
export interface AgentWorkerOptions {
  readonly model: (request: ModelRequest, call: number) => ModelAnswer | Promise<ModelAnswer>;
  readonly tools?: readonly AnyToolDefinition[];
  /** Prepares runs by this config, as a worker of the package does. @default the options here */
  readonly config?: Config;
  readonly taskQueue?: string;
  readonly identity?: string;
  readonly price?: PreparedRun['price'];
  /** Options of the run's judgement; without them all guards are off, as in runs of 0.1. */
  readonly policy?: z.input<typeof RunPolicy>;
  /** The completion gate of the agent; `policy.completion.custom` says that it is asked. */
  readonly completionGate?: CompletionGate;
  /** Asked before each call, as an agent's gate function is. */
  readonly gate?: GateFunction;
  readonly hooks?: readonly HookDefinition[];
  readonly compactor?: CustomCompactor;
  readonly contextWindow?: number;
  /** The models that a run may ask, the first one first. @default one fake model, prepared as older versions did */
  readonly route?: PreparedRun['route'];
  /** In place of `model`, by the candidate's name and key. */
  readonly providerFor?: (model: string, credential: string | undefined) => ModelProvider | undefined;
  /** Answers when a person asks for another model. @default there is none */
  readonly resolveModel?: (model: string) => ResolveModelResult | Promise<ResolveModelResult>;
  readonly transcriptCacheBytesMax?: number;
  readonly shutdownGraceMs?: number;
  readonly maxCachedWorkflows?: number;
  readonly dataConverter?: DataConverter;
  /** Where tokens go. @default nowhere */
  readonly streams?: StreamSink;
  /** @default files of a folder of its own */
  readonly artifacts?: ArtifactStore;
  /** Holds any activity back, by its name. */
  readonly beforeActivity?: (name: string) => Promise<void> | undefined;
  /** Holds preparing back, or fails it. */
  readonly beforePrepare?: () => Promise<void>;
  /** A bundle of another build. @default the present one */
  readonly bundlePath?: string;
  /** Prepares runs as the activities of a build do that knows no higher capability level. @default that of this build */
  readonly activitiesLevel?: number;
  /** The tools run on this queue, as workspace tools do where several hosts share a queue. */
  readonly toolQueue?: string;
  /** The secrets that may not leave the worker. @default none */
  readonly secrets?: SecretMask;
  /** Checks the signatures of approvals and extensions, as at an embedded server. @default none are needed */
  readonly authenticate?: Authenticate;
  /** Signs the starts of sub-agents. @default none */
  readonly sign?: Sign;
  /** The heartbeat timeout of tool calls. @default 30 s */
  readonly heartbeatTimeoutMs?: number;
  /** The limits of providers. @default none */
  readonly providers?: ProviderRules;
  /** The limits of tenants. @default none */
  readonly tenants?: TenantRules;
  /** The folders whose disks must have room. @default none */
  readonly roomIn?: readonly string[];
  /** The tools of MCP servers, for `config`. @default none */
  readonly mcpTools?: McpTools;
  /** The background commands of the worker, which its runs end. @default none */
  readonly background?: Pick<BackgroundCommands, 'endRun'>;
  /** How the worker reaches the server. @default without a way around */
  readonly address?: string;
}

/** A running worker with what it saw. */
export interface AgentWorker {
  readonly client: Client;
  readonly taskQueue: string;
  readonly requests: ModelRequest[];
  /** Shuts the worker down as SIGTERM does; the client stays. */
  shutdown(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a real worker on the test run's Temporal server. */
export async function startAgentWorker(options: AgentWorkerOptions): Promise<AgentWorker> {
  const address = inject('temporalAddress');
  const taskQueue = options.taskQueue ?? `test-${randomUUID()}`;
  // made by the first output that is cut
  const artifactsFolder = join(tmpdir(), `perdure-artifacts-${randomUUID()}`);
  const requests: ModelRequest[] = [];
  const provider: ModelProvider = {
    call: async (request) => {
      requests.push(
        structuredClone({ ...request, signal: undefined, isRunOver: undefined, onDelta: undefined }) as unknown as ModelRequest,
      );
      return options.model(request, requests.length);
    },
  };
  const nativeConnection = await NativeConnection.connect({ address: options.address ?? address });
  const connection = await Connection.connect({ address });
  const worker = await createTestWorker({
    connection: nativeConnection,
    taskQueue,
    ...(options.identity === undefined ? {} : { identity: options.identity }),
    workflowBundle: { codePath: options.bundlePath ?? inject('workflowBundlePath') },
    activities: heldBack(options.beforeActivity, {
      prepareRun: async (given) => {
        const { input } = given;
        const level = Math.min(given.level ?? 1, options.activitiesLevel ?? CAPABILITY_LEVEL);
        await options.beforePrepare?.();
        if (options.config) return await prepareBy(options.config, options)({ ...given, level });
        const prepared = prepare(input, options);
        const { policy } = prepared;
        return policy ? { ...prepared, policy: clampPolicy(policy, level) } : prepared;
      },
      prepareSession: createPrepareSession({
        config: options.config ?? {},
        searchAttributes: Object.keys(SEARCH_ATTRIBUTES),
        ...(options.authenticate ? { authenticate: options.authenticate } : {}),
      }),
      resolveModel: ({ model }) => Promise.resolve(options.resolveModel?.(model) ?? { problem: `no model ${model} in this test` }),
      tools: options.config?.tools ?? options.tools ?? [],
      ...(options.mcpTools ? { mcpTools: options.mcpTools, mcpLists: { config: options.config ?? {}, mcpTools: options.mcpTools } } : {}),
      ...(options.sign ? { sign: options.sign } : {}),
      providerFor: (model, credential) => ({ provider: options.providerFor?.(model, credential) ?? provider, model }),
      streams: options.streams ?? { publish: () => undefined, flush: () => Promise.resolve() },
      artifacts: options.artifacts ?? new FileArtifactStore(artifactsFolder),
      ...(options.roomIn ? { roomIn: options.roomIn } : {}),
      ...(options.secrets ? { secrets: options.secrets } : {}),
      ...(options.authenticate ? { authenticate: options.authenticate } : {}),
      ...(options.tenants ? { tenants: options.tenants } : {}),
      ...(options.providers ? { providers: options.providers } : {}),
      ...(options.background ? { endRun: (run) => options.background?.endRun(run) ?? Promise.resolve(0) } : {}),
      ...(options.hooks ? { hooks: options.hooks } : {}),
      ...(options.compactor ? { compactor: options.compactor } : {}),
      gates: gatesOf(options),
      ...(options.completionGate ? { completionGates: new Map([['default', options.completionGate]]) } : {}),
      ...(options.transcriptCacheBytesMax === undefined ? {} : { transcriptCacheBytesMax: options.transcriptCacheBytesMax }),
    }),
    maxHeartbeatThrottleInterval: WORKER_LIMITS.heartbeatThrottleMsMax,
    stickyQueueScheduleToStartTimeout: WORKER_LIMITS.stickyQueueScheduleToStartMs,
    ...(options.dataConverter ? { dataConverter: options.dataConverter } : {}),
    shutdownGraceTime: options.shutdownGraceMs ?? 100,
    ...(options.maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows: options.maxCachedWorkflows }),
  });
  const running = worker.run();
  const shutdown = async (): Promise<void> => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  };
  return {
    client: new Client({ connection, identity: 'test', ...(options.dataConverter ? { dataConverter: options.dataConverter } : {}) }),
    taskQueue,
    requests,
    shutdown,
    async stop() {
      await shutdown();
      await nativeConnection.close();
      await connection.close();
      await rm(artifactsFolder, { recursive: true, force: true });
    },
  };
}

/** Captures agents and tools of a config. */
function prepareBy(config: Config, { authenticate, mcpTools }: AgentWorkerOptions) {
  return createPrepareRun({
    config,
    configHash: 'test',
    keys: captureKeys({}),
    env: {},
    workspaceTools: [],
    searchAttributes: Object.keys(SEARCH_ATTRIBUTES),
    recallTurns: createRecallTurns({ isSearchable: true }),
    listedTools: [
      { tool: askUser, workspace: false, waits: 'question' },
      { tool: sleep, workspace: false, waits: 'sleep' },
    ],
    ...(authenticate ? { authenticate } : {}),
    ...(mcpTools ? { mcpTools } : {}),
  });
}

function prepare(given: RunInput, options: AgentWorkerOptions): PreparedRun {
  const { data: input, error } = RunInput.safeParse(given);
  if (!input) throw failure('Input.Invalid', error.message);
  const { gate, hooks, toolQueue } = options;
  const tools = (options.tools ?? []).map((tool) => describeTool(tool, { workspace: toolQueue !== undefined, gate, hooks }));
  const setup = { agent: 'default', prompt: 'You are under test.', tools };
  return {
    setup,
    setupHash: hashJson(setup),
    configHash: 'test',
    model: options.route?.[0]?.model ?? 'fake/model',
    ...(options.route ? { route: options.route } : {}),
    maxTurns: input.maxTurns ?? RUN_LIMITS.maxTurnsDefault,
    ...(options.price ? { price: options.price } : {}),
    contextWindow: options.contextWindow ?? MODEL_LIMITS.contextWindowDefault,
    ...policyOf(options),
    ...(options.authenticate ? { signed: true } : {}),
    ...(options.tenants?.limitsOf(input.tenant ?? '') ? { tenant: { name: input.tenant ?? '' } } : {}),
    ...(options.background ? { endsCommands: true } : {}),
    ...(options.toolQueue === undefined ? {} : { toolQueue: options.toolQueue }),
    ...(options.heartbeatTimeoutMs === undefined ? {} : { heartbeatTimeoutMs: options.heartbeatTimeoutMs }),
    searchAttributes: Object.keys(SEARCH_ATTRIBUTES),
  };
}

function policyOf({ policy, hooks }: AgentWorkerOptions): Pick<PreparedRun, 'policy'> {
  if (policy === undefined && hooks === undefined) return {};
  const base = policy === undefined ? POLICY_OF_0_1 : RunPolicy.parse(policy);
  return { policy: { ...base, hooks: hookFlags(hooks) } };
}

/** The activities, each of which begins once `before` has let it. */
function heldBack(before: AgentWorkerOptions['beforeActivity'], options: ActivitiesOptions): AgentActivities {
  const activities = createActivities(options);
  if (!before) return activities;
  // functions by name, before and after
  const byName = activities as unknown as Readonly<Record<string, (input: never) => unknown>>;
  const held = Object.entries(byName).map(([name, activity]) => {
    return [
      name,
      async (input: never) => {
        await before(name);
        return await activity(input);
      },
    ] as const;
  });
  return Object.fromEntries(held) as unknown as AgentActivities;
}

/** The gates that are functions, by agent: those of the config, and the one of the options. */
function gatesOf({ gate, config: { agents = {} } = {} }: AgentWorkerOptions): ReadonlyMap<string, GateFunction> {
  const own = gate ? [['default', gate] as const] : [];
  return new Map([
    ...own,
    ...Object.entries(agents).flatMap(([name, agent]) => (typeof agent.gate === 'function' ? [[name, agent.gate] as const] : [])),
  ]);
}

/** The text of the last message of a request. */
export function lastTextOf({ messages }: Pick<ModelRequest, 'messages'>): string {
  const last = messages.at(-1);
  return last ? textOf(last) : '';
}

/** An answer of plain text. */
export function say(text: string): ModelAnswer {
  return { parts: [{ type: 'text', text }], stop: 'end', usage: usage() };
}

/** An answer that calls tools: name and arguments of each. */
export function call(...calls: readonly (readonly [name: string, args: unknown])[]): ModelAnswer {
  const parts = calls.map(([name, args], index): Part => ({ type: 'tool_call', callId: `p${index}`, name, args: args as never }));
  return { parts, stop: 'tool_calls', usage: usage() };
}

function usage() {
  return { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
}
