import type { AgentClient } from '../../client/agent-client.js';
import { SUBAGENT_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Progress, RunResult, SubagentProgress } from '../../contracts/schemas/run.js';
import type { EndedSubagent } from '../../contracts/schemas/subagent.js';
import type { SubagentNode } from '../display/subagent-tree.js';

/** What is known of the sub-agents of a run: its result, else its progress. */
export interface KnownRun {
  readonly progress: Progress | undefined;
  readonly result: RunResult | undefined;
}

/**
 * Reads the tree of sub-agents below a run, in the order of its result or progress. Asks at most `SUBAGENT_LIMITS.shownMax` of each level
 * for their own. One that cannot be asked, because no worker runs or the server no longer has it, is shown without them.
 */
export async function readSubagentTree(client: AgentClient, known: KnownRun): Promise<readonly SubagentNode[]> {
  return await nodesOf(client, known, SUBAGENT_LIMITS.depthMax);
}

async function nodesOf(client: AgentClient, { progress, result }: KnownRun, levels: number): Promise<readonly SubagentNode[]> {
  const subagents: readonly (SubagentProgress & Partial<EndedSubagent>)[] = result?.subagents ?? progress?.subagents ?? [];
  return await Promise.all(
    subagents.map(async (subagent, index) => {
      const isAsked = levels > 1 && index < SUBAGENT_LIMITS.shownMax;
      return { ...subagent, subagents: isAsked ? await nodesOf(client, await ask(client, subagent), levels - 1) : [] };
    }),
  );
}

async function ask(client: AgentClient, { runId, reason }: SubagentProgress): Promise<KnownRun> {
  const run = client.get(runId);
  try {
    return reason === undefined
      ? { progress: await run.progress(), result: undefined }
      : { progress: undefined, result: await run.result() };
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    return { progress: undefined, result: undefined };
  }
}
