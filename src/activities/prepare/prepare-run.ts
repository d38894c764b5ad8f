import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { offersTool } from '../../contracts/access/gate-profile.js';
import type { AgentActivities, PreparedRun, PrepareRunInput } from '../../contracts/activities.js';
import { clampPolicy, SIGNED_LEVEL, TENANT_LEVEL, WAIT_LEVEL } from '../../contracts/capability-level.js';
import { PAYLOAD_LIMITS, RUN_LIMITS } from '../../contracts/constants/limits.js';
import { hashJson } from '../../contracts/digest.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';
import type { RunSetup } from '../../contracts/schemas/prepared-run.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import type { AnyToolDefinition } from '../../define/define-tool.js';
import { chooseRoute } from '../../models/choose-route.js';
import { type ResolvedRoute, resolveRoute } from '../../models/resolve-route.js';
import type { KeyRing } from '../../providers/contract/access-options.js';
import type { ListedTool } from '../../tools/registry.js';
import { updatePlan } from '../../tools/update-plan.js';
import { endsCommands } from '../commands/end-commands.js';
import { tenantRules } from '../limits/tenant-limits.js';
import type { McpOffer, McpTools } from '../mcp/mcp-tools.js';
import { failure, messageOf } from '../runtime/failures.js';
import { checkLevel, inheritGate, startsProcess } from '../subagents/delegation.js';
import { otherAgents } from '../subagents/other-agents.js';
import type { Authenticate } from './authenticate.js';
import { capturePrompt } from './capture-prompt.js';
import { findAgent } from './find-agent.js';
import { type RecallTurns, recallLastTurns } from './offer/last-turns.js';
import { askingRun, offerMcp } from './offer/offer-mcp.js';
import { type MemoryOffer, offerMemory } from './offer/offer-memory.js';
import { describeTool } from './offer/tool-descriptor.js';
import type { PromptSection } from './prompt.js';
import { parseInput } from './read-input.js';
import { heartbeatTimeout, priceSummaries, pricing, resolveCaps } from './run-caps.js';
import { resolvePolicy, withoutForcedTool } from './run-policy.js';
import { type CapturedSkills, captureSkills, type SkillFolders } from './skills.js';
import { noticeToollessModels } from './toolless-model-notices.js';
import { secretsInWorkspace } from './workspace-secrets.js';

/** The dependencies of the activity. */
export interface PrepareRunOptions extends SkillFolders {
  readonly config: Config;
  readonly configHash: string;
  readonly keys: KeyRing;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Offered only to a run with a workspace. */
  readonly workspaceTools: readonly AnyToolDefinition[];
  /** Offered to every run with tools, unless its agent blocks it. Absent when no output is stored. */
  readonly readArtifact?: AnyToolDefinition;
  /** Offered to every run with skills, unless its agent blocks it. */
  readonly readSkill?: AnyToolDefinition;
  /** Offered to agents that list them. @default none */
  readonly listedTools?: readonly ListedTool[];
  /** The tools of the memory. Absent without one. */
  readonly memoryTools?: readonly AnyToolDefinition[];
  /** The tools of the config's MCP servers. Absent without servers. */
  readonly mcpTools?: McpTools;
  readonly searchAttributes: readonly string[];
  /** Reads turns of earlier runs. Absent: runs start fresh. */
  readonly recallTurns?: RecallTurns;
  /** Absent: workspace tools and child processes run on the run's own queue. */
  readonly toolQueue?: string;
  /** Checks the signatures of starts. Absent: unsigned ones are taken. */
  readonly authenticate?: Authenticate;
  /** Heartbeat timeout of agents without one, in milliseconds. Absent: WORKER_LIMITS.heartbeatTimeoutMs. */
  readonly heartbeatTimeoutMs?: number;
}

/** The activity. The signal aborts its requests to providers; it then throws the signal's reason. */
export type PrepareRun = (...args: [...Parameters<AgentActivities['prepareRun']>, signal?: AbortSignal]) => Promise<PreparedRun>;

/** A prepared run with the sections of its prompt. */
export interface PreparedPrompt {
  readonly prepared: PreparedRun;
  readonly sections: readonly PromptSection[];
}

/** The ways in which a preview differs from a start. */
export interface PrepareContext {
  readonly signal: AbortSignal | undefined;
  readonly routeOf: typeof findRoute;
}

/** Makes the activity `prepareRun`. */
export function createPrepareRun(options: PrepareRunOptions): PrepareRun {
  return async (request, signal) => (await prepare(request, options, { signal, routeOf: findRoute })).prepared;
}

/** Validates the input, which may come from any client, and captures agent, prompt, tools and options. */
export async function prepare(
  { runId, input: given, level, started, handoff }: PrepareRunInput,
  options: PrepareRunOptions,
  { signal, routeOf }: PrepareContext,
): Promise<PreparedPrompt> {
  const input = parseInput(given);
  checkLevel(input, level);
  const [name, found] = findAgent(input.agent, options.config);
  const { agent, ...gateAgent } = inheritGate(handoff?.from ?? input.parent?.agent, found, options.config);
  if (hasRightsOfWorker(input, agent, options.config)) await authenticateStart({ runId, given, started }, options);
  const caps = resolveCaps(input, agent, options.config);
  const tenant = level !== undefined && level >= TENANT_LEVEL ? preparedTenant(input, options) : {};
  const limitsCost = tenant.tenant?.limitsCost === true;
  // who starts a run may lift its own limit, not that of the tenant
  const allowUnknownPrice = (limitsCost ? undefined : input.allowUnknownPrice) ?? agent.budget?.allowUnknownPrice ?? false;
  const needsPrice = (caps.maxCostUsd !== undefined || limitsCost) && !allowUnknownPrice;
  const { route, notices: ofRoute } = await routeOf(input, { name, agent, needsPrice, signal }, options);
  const [{ model, contextWindow, price }] = route;
  const resolved = resolvePolicy({ input, agent, config: options.config, maxTurns: caps.maxTurns });
  const { policy: full, notices: ofSummaries, ...summaryPrice } = priceSummaries(resolved, { config: options.config, needsPrice });
  const policy = clampPolicy(full, level);
  await checkWorkspace(input.context?.workspace, options);
  const skills = await captureSkills({ input, agent }, options);
  const memory = offerMemory(input, { agent, policy }, options);
  const captured = { runId, input, name, agent, model, skills, memory: memory.prompt, startedAt: started?.at, signal };
  const { prompt, sections, ...place } = await capturePrompt(captured, options.config);
  const others = otherAgents(input, agent, { config: options.config, level, signs: options.authenticate !== undefined });
  const mcp = await offerMcp(input, agent, { ...options, signal, ...askingRun(runId, level) });
  const tools = toolsFor(input, { agent, policy, level, skills, mcp, memory, others: others.tools }, options);
  const setup: RunSetup = { agent: name, prompt, tools, ...place };
  checkSetup(setup);
  const turns = await recallLastTurns(input, { name, level: handoff ? undefined : level }, options);
  const notices = [
    ...ofRoute,
    ...ofSummaries,
    ...skills.notices,
    ...mcp.notices,
    ...turns.notices,
    ...noticeToollessModels(route, setup.tools, options),
  ];
  const prepared = {
    setup,
    setupHash: hashJson(setup),
    configHash: options.configHash,
    model,
    ...caps,
    ...pricing({ model, price, caps, allowUnknownPrice, limitsCost }),
    contextWindow,
    route: [...route],
    ...summaryPrice,
    cacheKey: cacheKeyOf(runId, input),
    ...(notices.length > 0 ? { notices } : {}),
    policy: setup.tools.length === 0 ? withoutForcedTool(policy) : policy,
    ...(options.toolQueue === undefined || !needsHost(input, agent) ? {} : { toolQueue: options.toolQueue }),
    ...heartbeatTimeout(agent, options),
    ...(options.authenticate && level !== undefined && level >= SIGNED_LEVEL ? { signed: true } : {}),
    // a sub-agent works in the place of its parent, which counts what it spends
    ...(input.parent ? {} : tenant),
    ...others.prepared,
    ...endsCommands(tools, level),
    ...takenLists(mcp, level),
    ...(turns.messages.length > 0 ? { recalled: turns.messages } : {}),
    ...gateAgent,
    searchAttributes: [...options.searchAttributes],
  } satisfies PreparedRun;
  return { prepared, sections };
}

/** True for a run with rights of this worker's user: on a folder, or as a child process, which a sub-agent may be too. */
function hasRightsOfWorker({ context }: RunInput, agent: AgentDefinition, config: Config): boolean {
  return context?.workspace !== undefined || startsProcess(agent, config);
}

/** Checks the signature of a start. */
async function authenticateStart(
  { runId, given, started }: { readonly runId: string; readonly given: RunInput; readonly started: PrepareRunInput['started'] },
  { authenticate }: PrepareRunOptions,
): Promise<void> {
  const sentAt = started ? Date.parse(started.at) : Date.now();
  const request = { verb: 'start', runId, input: given, auth: given.auth, use: `start ${runId} ${started?.executionId}` } as const;
  const problem = await authenticate?.(request, sentAt);
  if (problem !== undefined) throw failure('Input.Invalid', problem);
}

/** The agent of a run, and the conditions of its route. */
interface RoutedAgent {
  readonly name: string;
  readonly agent: AgentDefinition;
  readonly needsPrice: boolean;
  readonly signal: AbortSignal | undefined;
}

/** The route: only the executor of an agent that has one; else the chosen model, then the fallbacks. Throws `Input.NoModel`. */
export async function findRoute(
  input: RunInput,
  { name, agent, needsPrice, signal }: RoutedAgent,
  { config, env, keys }: PrepareRunOptions,
): Promise<Exclude<ResolvedRoute, { problem: string }>> {
  const options = { config, env, keys, ...(signal ? { signal } : {}) };
  const choice = {
    requested: input.model,
    agentModel: agent.model,
    fallbacks: input.fallbacks ?? agent.fallbacks,
    thinking: input.thinking ?? agent.thinking,
    needsPrice,
  };
  const kind = agent.executor?.kind ?? 'llm';
  const resolved = kind === 'llm' ? await chooseRoute(choice, options) : resolveRoute({ model: `${kind}/${name}`, fallbacks: [] }, options);
  if ('problem' in resolved) throw failure('Input.NoModel', resolved.problem);
  return resolved;
}

/** True when the run is bound to one host: by its workspace, or by the process of an executor that cannot resume on a different host. */
function needsHost({ context }: RunInput, { executor }: AgentDefinition): boolean {
  return context?.workspace !== undefined || (executor?.kind === 'subprocess' && !executor.resume);
}

/** The tool lists of MCP servers, for workflow code that takes changed ones. */
function takenLists({ hashes }: McpOffer, level: number | undefined): Pick<PreparedRun, 'toolLists'> {
  if (level === undefined || level < WAIT_LEVEL || Object.keys(hashes).length === 0) return {};
  return { toolLists: { hashes, changes: 0 } };
}

/** The tenant of the run, when it has limits. */
function preparedTenant({ tenant: name = '' }: RunInput, { config }: PrepareRunOptions): Pick<PreparedRun, 'tenant'> {
  const limits = tenantRules(config).limitsOf(name);
  if (!limits) return {};
  return { tenant: { name, ...(limits.maxCostUsdPerDay === undefined ? {} : { limitsCost: true }) } };
}

/** The prompt cache key. Runs of one session share it, because their prompts begin alike. */
function cacheKeyOf(runId: string, { session, continuedFrom }: RunInput): string {
  return hashJson(session ?? continuedFrom ?? runId).slice(0, 32);
}

/** Validates the workspace. Without a tool queue a missing folder is final; else a retry may run on a host that has it. */
async function checkWorkspace(workspace: string | undefined, { toolQueue, config }: PrepareRunOptions): Promise<void> {
  if (workspace === undefined) return;
  if (!isAbsolute(workspace)) throw failure('Input.Workspace', `WORKSPACE ${workspace}: an absolute path is needed`);
  const found = await stat(workspace).catch((error: unknown) => {
    throw failure('Input.Workspace', `WORKSPACE ${workspace}: not reachable on the worker's host: ${messageOf(error)}`, {
      nonRetryable: toolQueue === undefined,
      nextRetryDelayMs: RUN_LIMITS.prepareHostsBackoffMs,
    });
  });
  if (!found.isDirectory()) throw failure('Input.Workspace', `WORKSPACE ${workspace}: not a folder`);
  const [secret] = await secretsInWorkspace(config, workspace);
  if (secret) throw failure('Input.Workspace', `SECRET_IN_WORKSPACE file:${secret}: tools could read this key; keep it elsewhere`);
}

/** An agent with its policy. */
interface JudgedAgent {
  readonly agent: AgentDefinition;
  readonly policy: RunPolicy;
  /** What the workflow code can do. */
  readonly level: number | undefined;
  readonly skills: CapturedSkills;
  readonly mcp: McpOffer;
  readonly memory: MemoryOffer;
  /** The tools for other agents: `delegate` and `handoff`. */
  readonly others: readonly AnyToolDefinition[];
}

/**
 * The tools of a run in a fixed order: the config's, then the workspace's, filtered by the agent's lists, then the tools that its policy
 * needs. Tools that the gate always blocks are left out.
 */
function toolsFor(
  { context }: RunInput,
  { agent, policy, level, skills, mcp, memory, others }: JudgedAgent,
  options: PrepareRunOptions,
): ToolDescriptor[] {
  const { config, workspaceTools, listedTools = [], readArtifact, readSkill } = options;
  const describe = (tool: AnyToolDefinition, workspace: boolean, waits?: ToolDescriptor['waits']): ToolDescriptor =>
    describeTool(tool, { workspace, gate: agent.gate, hooks: config.hooks, waits });
  const own = (config.tools ?? []).map((tool) => describe(tool, false));
  const ofWorkspace = context?.workspace === undefined ? [] : workspaceTools.map((tool) => describe(tool, true));
  const ofServers = mcp.tools.map(({ tool, workspace, asks, samples }) =>
    describeTool(tool, { workspace, gate: agent.gate, hooks: config.hooks, asks, samples }),
  );
  const { tools = [], blockedTools = [] } = agent;
  const isNamed = (name: string): boolean => tools.includes(name) || skills.tools.has(name);
  const isListed = (name: string): boolean => tools.length === 0 || isNamed(name);
  const mayReadSkills = readSkill && skills.listed.length > 0 ? [describe(readSkill, skills.needsWorkspace)] : [];
  const mayHave = ({ tool, workspace, waits }: ListedTool): boolean =>
    isNamed(tool.name) && (!workspace || context?.workspace !== undefined) && (!waits || (level ?? 0) >= WAIT_LEVEL);
  const named = listedTools.filter(mayHave).map(({ tool, workspace, waits }) => describe(tool, workspace, waits));
  const chosen = [...[...own, ...ofWorkspace].filter(({ name }) => isListed(name)), ...named, ...ofServers, ...mayReadSkills].filter(
    ({ name }) => !blockedTools.includes(name),
  );
  // only a run with tools has outputs that may be cut
  const mayRead = readArtifact && chosen.length > 0 && !blockedTools.includes(readArtifact.name);
  const needed = [...(mayRead ? [describe(readArtifact, false)] : []), ...(needsPlan(policy) ? [describe(updatePlan, false)] : [])];
  needed.push(...memory.tools.map((tool) => describe(tool, memory.workspace)));
  needed.push(...others.filter(({ name }) => !blockedTools.includes(name)).map((tool) => describe(tool, false)));
  return [...chosen, ...needed].filter((tool) => offersTool(policy.gate, tool));
}

/** True when the completion checks need the built-in plan tool. */
function needsPlan({ completion }: RunPolicy): boolean {
  return completion.checks.includes('plan-finished') && completion.planTool === updatePlan.name;
}

function checkSetup(setup: RunSetup): void {
  const bytes = Buffer.byteLength(JSON.stringify(setup));
  if (bytes <= PAYLOAD_LIMITS.outsideBytesMax) return;
  throw failure('Input.Invalid', `SETUP_TOO_LARGE: prompt and tool schemas are ${bytes} bytes, at most ${PAYLOAD_LIMITS.outsideBytesMax}`);
}
