import { workflowInfo } from '@temporalio/workflow';
import { CAPABILITY_LEVEL } from '../../contracts/capability-level.js';
import { MCP_LIMITS } from '../../contracts/constants/limits.js';
import type { ListToolsInput, ListToolsResult } from '../../contracts/schemas/prepared-run.js';
import { showDecision } from '../operator/wait.js';
import type { Run } from '../state/run.js';
import { readActivityProblem } from '../temporal/failures.js';
import { listTools } from '../temporal/proxies.js';

/**
 * Called between turns: takes the tools of MCP servers that changed them. A list that cannot be had leaves the tools as they are, until
 * the next call of the server. After `listChangesMax` changes, the run keeps its tools.
 */
export async function takeChangedTools(run: Run): Promise<void> {
  const { toolLists, setup } = run.prepared;
  if (!toolLists || run.mustStop || !run.agent.takeToolChange()) return;
  const { turn } = run.counters;
  const changes = toolLists.changes + 1;
  if (changes > MCP_LIMITS.listChangesMax) {
    run.agent.offer(setup.tools, undefined);
    const text = `MCP servers changed their tools more than ${MCP_LIMITS.listChangesMax} times: the run keeps the present ones`;
    run.events.add({ type: 'notice', text });
    return;
  }
  const found = await listAgain(run);
  if ('problem' in found) {
    run.events.add({ type: 'notice', text: `the changed tools of an MCP server cannot be read: ${found.problem}` });
    return;
  }
  const { tools, hashes, added, removed, changed, notices } = found;
  run.agent.offer(tools, { hashes: { ...toolLists.hashes, ...hashes }, changes });
  for (const text of notices) run.events.add({ type: 'notice', text });
  if (added.length + removed.length + changed.length === 0) return;
  run.events.add({ type: 'tools.changed', turn, added: [...added], removed: [...removed], changed: [...changed] });
  showDecision(run, `turn ${turn}: ${added.length} tools added, ${removed.length} removed, ${changed.length} changed by MCP servers`);
}

async function listAgain(run: Run): Promise<ListToolsResult> {
  const { toolQueue: queue, heartbeatTimeoutMs } = run.prepared;
  const options = { summary: 'list the tools of MCP servers', heartbeatTimeoutMs, ...(queue === undefined ? {} : { queue }) };
  try {
    return await run.calls.abortable(() => listTools(requestOf(run), options));
  } catch (error) {
    const { type, message } = readActivityProblem(error);
    return { problem: `${type}: ${message}` };
  }
}

function requestOf(run: Run): ListToolsInput {
  const { setup, setupHash, gateFrom } = run.prepared;
  const workspace = run.input.context?.workspace;
  return {
    runId: run.runId,
    executionId: workflowInfo().runId,
    setupHash,
    agent: setup.agent,
    gate: run.policy.gate,
    level: CAPABILITY_LEVEL,
    ...(gateFrom === undefined ? {} : { gateFrom }),
    ...(workspace === undefined ? {} : { workspace }),
  };
}
