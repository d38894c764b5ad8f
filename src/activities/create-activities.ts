import { Context } from '@temporalio/activity';
import type { ArtifactStore } from '../artifacts/artifact-store.js';
import type { AgentActivities, TranscriptRef } from '../contracts/activities.js';
import { WORKER_LIMITS } from '../contracts/constants/limits.js';
import type { GateFunction } from '../define/agent-gate.js';
import type { CustomCompactor } from '../define/compactor.js';
import type { CompletionGate } from '../define/completion-gate.js';
import type { HookDefinition } from '../define/define-hook.js';
import type { AnyToolDefinition } from '../define/define-tool.js';
import type { ModelFacts } from '../define/model-options.js';
import type { StreamSink } from '../streams/stream.js';
import { createAcceptAnswer } from './answer/accept-answer.js';
import { type CallModelOptions, createCallModel } from './call-model/call-model.js';
import { SharedCooldowns } from './call-model/shared-cooldowns.js';
import { createCallTool } from './call-tool/call-tool.js';
import { createCheckTool } from './call-tool/check-tool.js';
import { createReconcileTool } from './call-tool/reconcile-tool.js';
import { createCompact } from './compact/compact.js';
import { createHookRunner } from './hooks/hook-runner.js';
import { createRunHooks } from './hooks/run-hooks.js';
import type { PrepareRun } from './prepare/prepare-run.js';
import { SetupCache } from './prepare/setup-cache.js';
import { withHeartbeat } from './runtime/heartbeat.js';
import { TranscriptCache } from './transcript/transcript-cache.js';

/** The dependencies of all activities. */
export interface ActivitiesOptions {
  readonly prepareRun: PrepareRun;
  readonly resolveModel: AgentActivities['resolveModel'];
  readonly tools: readonly AnyToolDefinition[];
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
}

/** Makes the activities of a worker. They share one transcript cache. */
export function createActivities(options: ActivitiesOptions): AgentActivities {
  const cache = new TranscriptCache(options.transcriptCacheBytesMax ?? WORKER_LIMITS.transcriptCacheBytesMax);
  const transcripts: CallModelOptions['transcripts'] = { cache, query: (ref, request) => ownWorkflow(ref).query('transcript', request) };
  const setups = new SetupCache((ref) => ownWorkflow(ref).query('setup'));
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]));
  const hooks = createHookRunner(options.hooks ?? [], (message) => Context.current().log.warn(message));
  return {
    prepareRun: createPrepareActivity(options.prepareRun, setups),
    resolveModel: options.resolveModel,
    callModel: createCallModel({
      transcripts,
      setups,
      providerFor: options.providerFor,
      streams: options.streams,
      hooks,
      cooldowns: new SharedCooldowns(),
      ...(options.factsOf ? { factsOf: options.factsOf } : {}),
      ...(options.modelIdleMs === undefined ? {} : { idleMs: options.modelIdleMs }),
    }),
    callTool: createCallTool({ tools, cache, artifacts: options.artifacts, hooks }),
    reconcileTool: createReconcileTool({ tools, cache, artifacts: options.artifacts, hooks }),
    checkTool: createCheckTool({ tools, hooks, gates: options.gates ?? new Map() }),
    runHooks: createRunHooks({ hooks }),
    compact: createCompact({
      transcripts,
      providerFor: options.providerFor,
      hooks,
      ...(options.compactor ? { compactor: options.compactor } : {}),
    }),
    acceptAnswer: createAcceptAnswer({ transcripts, completionGates: options.completionGates ?? new Map() }),
  };
}

/** Makes the activity `prepareRun`. It sends heartbeats, because it may read workspace files over a network. */
function createPrepareActivity(prepareRun: PrepareRun, setups: SetupCache): AgentActivities['prepareRun'] {
  return (input) => {
    const startedAt = Date.now();
    return withHeartbeat(
      'prepareRun',
      () => ({ phase: 'preparing', elapsedMs: Date.now() - startedAt }),
      async () => {
        const prepared = await prepareRun(input, Context.current().cancellationSignal);
        setups.keep(prepared.setupHash, prepared.setup);
        return prepared;
      },
    );
  };
}

/** A handle of the workflow that the running activity belongs to, over the worker's own connection. */
function ownWorkflow({ runId, executionId }: Pick<TranscriptRef, 'runId' | 'executionId'>) {
  return Context.current().client.workflow.getHandle(runId, executionId);
}
