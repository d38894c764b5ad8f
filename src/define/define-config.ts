import { z } from 'zod';
import { CONFIG_LIMITS, FAILOVER_LIMITS, MODEL_LIMITS, RUN_LIMITS } from '../contracts/constants/limits.js';
import { ModelPrice, ThinkingSetting } from '../contracts/schemas/model.js';
import type { CustomCompactor } from './agent/compactor.js';
import { AgentDefinition } from './define-agent.js';
import { HookDefinition } from './define-hook.js';
import { Plugin } from './define-plugin.js';
import { Tool } from './define-tool.js';
import { ModelOptions } from './model-options.js';
import { ProviderDefinition } from './provider-definition.js';
import { ArtifactsDefinition } from './worker/artifacts.js';
import { ChannelsDefinition } from './worker/channels.js';
import { Credentials } from './worker/credentials.js';
import { FetchDefinition } from './worker/fetch.js';
import { GatewayDefinition } from './worker/gateway.js';
import { HeartbeatTimeoutMs } from './worker/heartbeat-timeout.js';
import { McpServers } from './worker/mcp-servers.js';
import { MemoryDefinition } from './worker/memory.js';
import { SandboxDefinition } from './worker/sandbox.js';
import { SessionsDefinition } from './worker/sessions.js';
import { StreamsDefinition } from './worker/streams.js';
import { ProviderLimitsDefinition, TenantsDefinition } from './worker/tenants.js';

const Compactor = z.custom<CustomCompactor>(
  (value) => typeof value === 'function',
  'a function ({ messages, tokensMax, runId }) => messages',
);

const ConfigLimits = z.strictObject({
  /** Turn limit of runs and agents without one. @default 20 */
  maxTurns: z.number().int().min(RUN_LIMITS.maxTurnsMin).max(RUN_LIMITS.maxTurnsMax).optional(),
  /** Longest time without a byte from a model, in milliseconds. @default 90 s */
  modelIdleMs: z.number().int().min(1_000).max(MODEL_LIMITS.turnTimeoutMs).optional(),
  /**
   * Heartbeat timeout of agents without one, in milliseconds: 10 s to an hour.
   * @default 60 s under the supervisor of `perdure worker`, 30 s without it, 5 minutes on the embedded server
   */
  heartbeatTimeoutMs: HeartbeatTimeoutMs.optional(),
  /** Limits of model calls by the name of the provider, shared by all workers of the task queue. @default none */
  providers: z.record(z.string(), ProviderLimitsDefinition).optional(),
});

/** The configuration of a worker. An unknown field is an error. */
export const Config = z.strictObject({
  /** Model of runs that name none: `provider/model`, or a bare name. @default the first provider with a key */
  model: z.string().optional(),
  /** Models that are called in this order when the first one fails. @default none: the run fails */
  fallbacks: z.array(z.string()).max(FAILOVER_LIMITS.fallbacksMax).optional(),
  /**
   * `strict`: a model that cannot be called is an error. `first-available`: the first one that can be called is used, with a notice: the
   * chosen model, a fallback, or the detected model. @default strict
   */
  resolve: z.enum(['strict', 'first-available']).optional(),
  /** How much models think. @default the model's own default */
  thinking: ThinkingSetting.optional(),
  /** Facts and options of models by `provider/model`. They override the catalog field by field. */
  models: z.record(z.string(), ModelOptions).optional(),
  /** Tools, made with `defineTool`. @default none */
  tools: z.array(Tool).optional(),
  /** Hooks around runs, model calls and tool calls, made with `defineHook`. @default none */
  hooks: z.array(HookDefinition).optional(),
  /** Agents by name. A file `agents/NAME.md` defines one too. @default none */
  agents: z.record(z.string(), AgentDefinition).optional(),
  /**
   * Plugins: objects made with `definePlugin`, or names of packages and paths of modules that export one as default. Definitions of the
   * config replace those of plugins by name. @default none
   */
  plugins: z
    .array(z.union([z.string().min(1), Plugin]))
    .max(CONFIG_LIMITS.pluginsMax)
    .optional(),
  /**
   * Files of other tools, relative to the config: a Markdown file such as `AGENTS.md` is an instruction for all agents, and a folder such as
   * `.claude/agents` has one agent in each file. @default none
   */
  import: z.array(z.string().min(1)).max(CONFIG_LIMITS.importsMax).optional(),
  /** Instructions for all agents, by the name that the prompt shows. @default those of `import` */
  instructions: z.record(z.string().min(1), z.string()).optional(),
  /** Providers by name. A name of a known provider replaces that provider. @default none */
  providers: z.record(z.string(), ProviderDefinition).optional(),
  /** Keys of known providers by name, in place of their variables: a reference, or a list in the order of use. */
  credentials: z.record(z.string(), Credentials).optional(),
  /** Prices by `provider/model`; the same as `models.*.price`. */
  prices: z.record(z.string(), ModelPrice).optional(),
  /** Context windows in tokens by `provider/model`; the same as `models.*.contextWindow`. */
  contextWindows: z.record(z.string(), z.number().int().min(MODEL_LIMITS.contextWindowMin)).optional(),
  /** Storage of large outputs and large payloads: a bucket, or a folder that all hosts mount. @default files of the state folder */
  artifacts: ArtifactsDefinition.optional(),
  /** Redis server for token streams, beside the files of the state folder. @default files only */
  streams: StreamsDefinition.optional(),
  /** Limits of tenants: runs at once, and money for a day. @default none */
  tenants: TenantsDefinition.optional(),
  /** Queues of sessions: mode, cap, drop policy, debounce. @default followup, 20 messages, the new one is dropped, 500 ms */
  sessions: SessionsDefinition.optional(),
  /** Chat channels by name, which `perdure serve` ties to sessions. @default none */
  channels: ChannelsDefinition.optional(),
  /**
   * MCP servers by name. Runs are offered their tools as `SERVER_TOOL`. Needs the package `@modelcontextprotocol/sdk`. @default none
   */
  mcpServers: McpServers.optional(),
  /** Notes that outlast runs: tools `remember` and `recall`. @default none, unless an agent lists the tools */
  memory: MemoryDefinition.optional(),
  /** Limits of `perdure serve`. @default those of `HTTP_LIMITS` */
  gateway: GatewayDefinition.optional(),
  /** What `fetch_url` may reach beyond public hosts. @default nothing */
  fetch: FetchDefinition.optional(),
  /** What commands of `run_command` may reach. @default a sandbox of namespaces without network */
  sandbox: SandboxDefinition.optional(),
  /** Custom compactor `({ messages, tokensMax, runId, signal }) => messages`, for the compaction strategy `custom`. */
  compactor: Compactor.optional(),
  /** Runs short `read` tools as local activities, for agents that do not set `localReadTools` themselves. @default false */
  localReadTools: z.boolean().optional(),
  /** Limits of all runs and model calls of the worker. */
  limits: ConfigLimits.optional(),
});
export type Config = z.infer<typeof Config>;

/** Returns its argument, typed. The worker validates the config when it loads the file, and reports all problems at once. */
export function defineConfig(config: Config): Config {
  return config;
}
