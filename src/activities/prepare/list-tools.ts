import { Context } from '@temporalio/activity';
import { offersTool } from '../../contracts/access/gate-profile.js';
import type { AgentActivities } from '../../contracts/activities.js';
import { MCP_LIMITS, PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { hashJson } from '../../contracts/digest.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import type { Config } from '../../define/define-config.js';
import type { McpTools } from '../mcp/mcp-tools.js';
import { serverOfTool } from '../mcp/tool-name.js';
import { inheritGate } from '../subagents/delegation.js';
import { findAgent } from './find-agent.js';
import { askingRun, findMcpTools } from './offer/offer-mcp.js';
import { describeTool } from './offer/tool-descriptor.js';
import type { SetupCache } from './setup-cache.js';

/** The MCP servers of a worker, and its config, which says which of their tools an agent is offered. */
export interface ServerLists {
  readonly config: Config;
  readonly mcpTools: McpTools;
}

/**
 * Makes the activity `listTools`: the tools of a run, with those of its MCP servers as they are now. What the run captured of other tools
 * stays. A server that does not answer keeps its tools.
 */
export function createListTools(setups: SetupCache, lists: ServerLists | undefined): AgentActivities['listTools'] {
  return async ({ runId, executionId, setupHash, agent: name, gateFrom, gate, workspace, level }) => {
    if (!lists) return { problem: 'this worker has no MCP servers' };
    const { config, mcpTools } = lists;
    const signal = Context.current().cancellationSignal;
    const setup = await setups.get(setupHash, { runId, executionId }, { signal });
    const { agent } = inheritGate(gateFrom, findAgent(name, config)[1], config);
    const {
      tools: found,
      hashes,
      notices,
      problem,
    } = await findMcpTools(workspace, agent, {
      config,
      mcpTools,
      signal,
      ...askingRun(runId, level),
    });
    if (problem !== undefined) return { problem };
    const described = found
      .map(({ tool, workspace: needsWorkspace, asks, samples }) =>
        describeTool(tool, { workspace: needsWorkspace, gate: agent.gate, hooks: config.hooks, asks, samples }),
      )
      .filter((tool) => offersTool(gate, tool));
    const isListed = (tool: ToolDescriptor): boolean => Object.hasOwn(hashes, serverOfTool(tool.name));
    const tools = replaced(setup.tools, isListed, described);
    const bytes = Buffer.byteLength(JSON.stringify({ ...setup, tools }));
    if (bytes > PAYLOAD_LIMITS.outsideBytesMax) return { problem: `prompt and tool schemas would be ${bytes} bytes` };
    return { tools, hashes, notices, ...differences(setup.tools.filter(isListed), described) };
  };
}

/** The tools with those of the listed servers in the place of the first of them. */
function replaced(
  tools: readonly ToolDescriptor[],
  isListed: (tool: ToolDescriptor) => boolean,
  described: readonly ToolDescriptor[],
): readonly ToolDescriptor[] {
  const first = tools.findIndex(isListed);
  const at = first === -1 ? tools.length : first;
  return [...tools.slice(0, at), ...described, ...tools.slice(at).filter((tool) => !isListed(tool))];
}

interface Differences {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

function differences(before: readonly ToolDescriptor[], after: readonly ToolDescriptor[]): Differences {
  const [old, present] = [hashesOf(before), hashesOf(after)];
  return {
    added: shown([...present.keys()].filter((name) => !old.has(name))),
    removed: shown([...old.keys()].filter((name) => !present.has(name))),
    changed: shown([...present].flatMap(([name, hash]) => (old.has(name) && old.get(name) !== hash ? [name] : []))),
  };
}

function hashesOf(tools: readonly ToolDescriptor[]): ReadonlyMap<string, string> {
  return new Map(tools.map((tool) => [tool.name, hashJson({ ...tool })]));
}

/** What a server can make of an event is bounded. */
function shown(names: readonly string[]): readonly string[] {
  return names.slice(0, MCP_LIMITS.namesShownMax);
}
