import { Context } from '@temporalio/activity';
import type { ArtifactStore } from '../artifacts/artifact-store.js';
import type { AgentActivities, TranscriptRef } from '../contracts/activities.js';
import { CLIENT_LIMITS, RUN_LIMITS, WORKER_LIMITS } from '../contracts/constants/limits.js';
import { queryTwice } from '../contracts/query-twice.js';
import { NO_SECRETS, type SecretMask } from '../contracts/text/secret-mask.js';
import type { CustomCompactor } from '../define/agent/compactor.js';
import type { CompletionGate } from '../define/agent/completion-gate.js';
import type { GateFunction } from '../define/agent-gate.js';
import type { HookDefinition } from '../define/define-hook.js';
import type { AnyToolDefinition } from '../define/define-tool.js';
import type { ModelFacts } from '../define/model-options.js';
import type { StreamSink } from '../streams/stream.js';
import { createAcceptAnswer } from './answer/accept-answer.js';
import { type CallModelOptions, createCallModel } from './call-model/call-model.js';
import { SharedCooldowns } from './call-model/shared-cooldowns.js';
import { createCallTool } from './call-tool/call-tool.js';
import { createCheckTool } from './call-tool/check-tool.js';
import type { KnownTools } from './call-tool/hooked-result.js';
import { KeptResults } from './call-tool/kept-results.js';
import { createRecallResult } from './call-tool/recall-result.js';
import { createReconcileTool } from './call-tool/reconcile-tool.js';
import { createEndCommands, type EndRun } from './commands/end-commands.js';
import { createCompact } from './compact/compact.js';
import { createHookRunner } from './hooks/hook-runner.js';
import { createRunHooks } from './hooks/run-hooks.js';
import { createAskTenant, createCheckTenant } from './limits/ask-tenant.js';
import { ProviderGates, type ProviderRules } from './limits/provider-gate.js';
import { type TenantRules, tenantRules } from './limits/tenant-limits.js';
import { type Authenticate, createCheckSignature, createSignStart, type Sign } from './prepare/authenticate.js';
import { createListTools, type ServerLists } from './prepare/list-tools.js';
import type { PrepareRun } from './prepare/prepare-run.js';
import { SetupCache } from './prepare/setup-cache.js';
import { finalFailure, isOtherHost } from './runtime/failures.js';
import { withHeartbeat } from './runtime/heartbeat.js';
import { maskActivities, maskPrepared } from './runtime/mask-activities.js';
import { createRoomCheck, withRoom } from './runtime/room.js';
import { createCheckMessages } from './sessions/check-messages.js';
import { createSendScheduled } from './sessions/send-scheduled.js';
import { createAwaitRun } from './subagents/await-run.js';
import { createCopyConversation } from './transcript/copy-conversation.js';
import { TranscriptCache } from './transcript/transcript-cache.js';

/** The dependencies of all activities. */
export interface ActivitiesOptions {
  readonly prepareRun: PrepareRun;
  readonly resolveModel: AgentActivities['resolveModel'];
  readonly prepareSession: AgentActivities['prepareSession'];
  /** Checks the signatures of approvals and extensions. @default unsigned ones are taken */
  readonly authenticate?: Authenticate;
  /** Signs the starts of sub-agents. @default none */
  readonly sign?: Sign;
  readonly tools: readonly AnyToolDefinition[];
  /** The tools of MCP servers, by name. @default none */
  readonly mcpTools?: KnownTools;
  /** What lists the tools of MCP servers for runs at work. @default runs keep the tools that they started with */
  readonly mcpLists?: ServerLists;
  readonly providerFor: CallModelOptions['providerFor'];
  readonly streams: StreamSink;
  /** The store for the whole text of cut outputs. */
  readonly artifacts: ArtifactStore;
  /** The known facts of a model. @default none */
  readonly factsOf?: (model: string) => ModelFacts;
  readonly modelIdleMs?: number;
  /** @default none */
  readonly hooks?: readonly HookDefinition[];
  /** The `gate` of each agent whose gate is a function. @default none */
  readonly gates?: ReadonlyMap<string, GateFunction>;
  /** The `completionGate` of each agent that has one. @default none */
  readonly completionGates?: ReadonlyMap<string, CompletionGate>;
  /** The config's compactor, for the compaction strategy `custom`. */
  readonly compactor?: CustomCompactor;
  /** @default 64 MiB */
  readonly transcriptCacheBytesMax?: number;
  /** The secrets that leave no activity. @default none */
  readonly secrets?: SecretMask;
  /** The results of finished tool calls. Share them between the workers of a process. @default in memory */
  readonly results?: KeptResults;
  /** The limits of tenants. @default none */
  readonly tenants?: TenantRules;
  /** The limits of providers. @default none */
  readonly providers?: ProviderRules;
  /** The folders whose disks must have room before a call starts. @default none */
  readonly roomIn?: readonly string[];
  /** Ends the background commands of a run, and returns how many. @default there are none */
  readonly endRun?: EndRun;
  /** The queue of this host, if several hosts share a task queue. */
  readonly hostQueue?: string;
}

/** Makes the activities of a worker. They share one transcript cache. No secret of `options.secrets` leaves them. */
export function createActivities(options: ActivitiesOptions): AgentActivities {
  const { secrets = NO_SECRETS } = options;
  const cache = new TranscriptCache(options.transcriptCacheBytesMax ?? WORKER_LIMITS.transcriptCacheBytesMax);
  const transcripts: CallModelOptions['transcripts'] = { cache, query: (ref, request) => queryOwn(ref, 'transcript', request) };
  const setups = new SetupCache((ref) => queryOwn(ref, 'setup'));
  const own = new Map(options.tools.map((tool) => [tool.name, tool]));
  const tools: KnownTools = { get: (name) => own.get(name) ?? options.mcpTools?.get(name) };
  const hooks = createHookRunner(options.hooks ?? [], (message) => Context.current().log.warn(message), secrets);
  const results = options.results ?? new KeptResults();
  const queue = options.hostQueue === undefined ? {} : { queue: options.hostQueue };
  const toolOptions = { tools, cache, artifacts: options.artifacts, hooks, secrets, results, ...queue };
  const places = new ProviderGates(options.providers);
  const callModel = createCallModel({
    transcripts,
    setups,
    providerFor: options.providerFor,
    streams: options.streams,
    hooks,
    cooldowns: new SharedCooldowns(),
    places,
    secrets,
    ...(options.factsOf ? { factsOf: options.factsOf } : {}),
    ...(options.modelIdleMs === undefined ? {} : { idleMs: options.modelIdleMs }),
  });
  const checkRoom = createRoomCheck(options.roomIn ?? []);
  const callTool = withToolList(createCallTool(toolOptions), options.mcpLists);
  const prepareRun = createPrepareActivity(options.prepareRun, { setups, secrets });
  const activities: AgentActivities = {
    prepareRun: withRoom(checkRoom, prepareRun),
    listTools: createListTools(setups, options.mcpLists),
    resolveModel: options.resolveModel,
    checkSignature: createCheckSignature(options.authenticate),
    askTenant: createAskTenant(options.tenants ?? tenantRules({})),
    checkTenant: createCheckTenant(options.tenants ?? tenantRules({})),
    callModel: withRoom(checkRoom, (input) => {
      // the results of earlier turns are in the transcript of this call
      results.passed(input);
      return callModel(input);
    }),
    callTool: withRoom(checkRoom, callTool),
    awaitRoom: checkRoom,
    endCommands: createEndCommands(options.endRun),
    awaitRun: createAwaitRun(),
    signStart: createSignStart(options.sign),
    prepareSession: options.prepareSession,
    copyConversation: createCopyConversation(transcripts),
    checkMessages: createCheckMessages(options.authenticate),
    sendScheduled: createSendScheduled(options),
    reconcileTool: createReconcileTool(toolOptions),
    recallResult: createRecallResult({ results, cache }),
    checkTool: createCheckTool({ tools, hooks, gates: options.gates ?? new Map(), secrets }),
    runHooks: createRunHooks({ hooks }),
    compact: createCompact({
      transcripts,
      providerFor: options.providerFor,
      hooks,
      places,
      secrets,
      ...(options.compactor ? { compactor: options.compactor } : {}),
    }),
    acceptAnswer: createAcceptAnswer({ transcripts, completionGates: options.completionGates ?? new Map(), secrets }),
  };
  return maskActivities(activities, secrets);
}

/** Makes the activity `prepareRun`. It sends heartbeats, because it may read workspace files over a network. */
function createPrepareActivity(
  prepareRun: PrepareRun,
  { setups, secrets }: { readonly setups: SetupCache; readonly secrets: SecretMask },
): AgentActivities['prepareRun'] {
  return (input) => {
    const startedAt = Date.now();
    return withHeartbeat(
      'prepareRun',
      () => ({ phase: 'preparing', elapsedMs: Date.now() - startedAt }),
      async () => {
        const { info, cancellationSignal } = Context.current();
        const found = await prepareRun(input, cancellationSignal).catch((error: unknown) => {
          throw info.attempt < RUN_LIMITS.prepareAttemptsMax || isOtherHost(error) ? error : finalFailure(error);
        });
        // masked before it is kept: other workers are given the masked setup
        const prepared = maskPrepared(found, secrets);
        setups.keep(prepared.setupHash, prepared.setup);
        return prepared;
      },
    );
  };
}

/** Adds the present tools of a server to the result of its call. */
function withToolList(callTool: AgentActivities['callTool'], lists: ServerLists | undefined): AgentActivities['callTool'] {
  if (!lists) return callTool;
  return async (input) => {
    const result = await callTool(input);
    const { runId, workspace, asks, samples } = input;
    const run = asks || samples ? { id: runId, samples: samples !== undefined } : undefined;
    const toolList = lists.mcpTools.listOf(input.tool, { workspace, run });
    return toolList ? { ...result, toolList } : result;
  };
}

/**
 * Queries the workflow that the running activity belongs to, over the worker's own connection. An attempt ends before the query can
 * leave the sticky queue of a lost worker.
 */
async function queryOwn<T>(
  { runId, executionId }: Pick<TranscriptRef, 'runId' | 'executionId'>,
  query: string,
  ...args: object[]
): Promise<T> {
  const { client } = Context.current();
  const workflow = client.workflow.getHandle(runId, executionId);
  return await queryTwice(client, Date.now() + CLIENT_LIMITS.queryTimeoutMs, () => workflow.query<T, object[]>(query, ...args));
}
