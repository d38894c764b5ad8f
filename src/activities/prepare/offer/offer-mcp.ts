import { ELICITATION_LEVEL, SAMPLING_LEVEL } from '../../../contracts/capability-level.js';
import type { RunInput } from '../../../contracts/schemas/run.js';
import type { AgentDefinition } from '../../../define/define-agent.js';
import type { Config } from '../../../define/define-config.js';
import type { McpOffer, McpTools } from '../../mcp/mcp-tools.js';
import type { AskedRun } from '../../mcp/pool.js';
import { serverOfTool } from '../../mcp/tool-name.js';
import { failure } from '../../runtime/failures.js';

/** What the offer depends on. */
export interface OfferOptions {
  readonly config: Config;
  readonly mcpTools?: McpTools;
  readonly signal: AbortSignal | undefined;
  /** The run of which servers may request something. @default none may */
  readonly run?: AskedRun;
}

/** The run, for workflow code that takes the requests of running calls. */
export function askingRun(runId: string, level: number | undefined): Pick<OfferOptions, 'run'> {
  if (level === undefined || level < ELICITATION_LEVEL) return {};
  return { run: { id: runId, samples: level >= SAMPLING_LEVEL } };
}

const NONE: McpOffer = { tools: [], notices: [], hashes: {} };

/**
 * The tools of MCP servers that a run is offered. Starts the servers that the agent may use. Throws `Input.McpServer` for one that is required
 * and cannot be used.
 */
export async function offerMcp(input: Pick<RunInput, 'context'>, agent: AgentDefinition, options: OfferOptions): Promise<McpOffer> {
  const offer = await findMcpTools(input.context?.workspace, agent, options);
  if (offer.problem !== undefined) throw failure('Input.McpServer', offer.problem);
  return offer;
}

/** The same, with the problem of a required server in place of an error. Never rejects. */
export async function findMcpTools(
  workspace: string | undefined,
  agent: AgentDefinition,
  { config, mcpTools, signal = new AbortController().signal, run }: OfferOptions,
): Promise<McpOffer> {
  if (!mcpTools) return NONE;
  const { tools, ...offer } = await mcpTools.offer(serversOf(agent, config), { workspace, signal, run });
  const allowed = tools.filter(({ tool: { name } }) => {
    const isListed = agent.mcp !== undefined || !namesTools(agent) || isNamed(agent.tools, name);
    return isListed && !isNamed(agent.blockedTools, name);
  });
  return { ...offer, tools: allowed };
}

/** The servers whose tools an agent is offered: those that it names, those of the tools that it names, or all. */
function serversOf(agent: AgentDefinition, { mcpServers = {} }: Config): readonly string[] {
  const names = Object.keys(mcpServers);
  if (agent.mcp) return names.filter((name) => agent.mcp?.includes(name));
  if (!namesTools(agent)) return names;
  const used = new Set(agent.tools?.map(serverOfTool));
  return names.filter((name) => used.has(name));
}

/** An empty list of tools means all. */
function namesTools({ tools = [] }: AgentDefinition): boolean {
  return tools.length > 0;
}

/** True for a tool that a list names: by its name, or with all of its server as `SERVER_*`. */
function isNamed(list: readonly string[] = [], name: string): boolean {
  return list.includes(name) || list.includes(`${serverOfTool(name)}_*`);
}
