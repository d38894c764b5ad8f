import { z } from 'zod';
import { INPUT_LIMITS } from '../constants/limits.js';
import { Usage } from './model.js';

/** What a final answer means while sub-agents work in the background: wait for them first, or stop them. */
export const SubagentsOnEnd = z.enum(['wait', 'stop']);
export type SubagentsOnEnd = z.infer<typeof SubagentsOnEnd>;

/**
 * The run that delegated this one. A run sets it for its sub-agents; of anybody else it is refused. `depthLeft`: levels of sub-agents that
 * this run may start below itself.
 */
export const ParentRun = z.strictObject({
  /** Id of the parent run. */
  runId: z.string().max(INPUT_LIMITS.workflowIdCharsMax),
  /** Agent of the parent run, whose gate applies to an agent without one. */
  agent: z.string(),
  /** Call of the parent that delegated the task. */
  callId: z.string(),
  /** Levels of sub-agents below this run. */
  depthLeft: z.number().int().min(0),
});
export type ParentRun = z.infer<typeof ParentRun>;

/** The share of the parent's limits that a sub-agent may spend. Absent: no limit. */
export const SubagentShare = z.strictObject({ tokens: z.number().optional(), costUsd: z.number().optional() });
export type SubagentShare = z.infer<typeof SubagentShare>;

/** A sub-agent at work. */
export const LiveSubagent = z.strictObject({
  runId: z.string(),
  /** The first of its executions. A later run may have the same id. */
  executionId: z.string(),
  agent: z.string(),
  callId: z.string(),
  /** Reserved of the parent's limits until it ends. */
  share: SubagentShare,
  /** The parent paused it. */
  paused: z.boolean().optional(),
  /** Its call has returned already: its result comes as a message. */
  background: z.boolean().optional(),
});
export type LiveSubagent = z.infer<typeof LiveSubagent>;

/** A sub-agent that ended. `reason` is that of its run, or `lost` when its workflow ended without a result. */
export const EndedSubagent = z.strictObject({
  /** Id of the run. */
  runId: z.string(),
  /** Name of the agent. */
  agent: z.string(),
  /** Why it ended: the reason of its result, or `lost` when its workflow was ended from outside and has none. */
  reason: z.string(),
  /** Its usage, with that of its own sub-agents. Of a lost one, all that was reserved for it. */
  usage: Usage,
  /** Its cost in USD. Absent when a price is unknown. */
  costUsd: z.number().optional(),
  /** The beginning of its answer, for a sub-agent whose parent ended before the model read it. Absent otherwise. */
  output: z.string().optional(),
});
export type EndedSubagent = z.infer<typeof EndedSubagent>;

/** The result of a sub-agent in the background, which the model has yet to read. */
export const ArrivedResult = z.strictObject({
  callId: z.string(),
  runId: z.string(),
  /** How it ended, in a few words. */
  ending: z.string(),
  /** Its answer, cut as the output of a tool is. */
  output: z.string(),
});
export type ArrivedResult = z.infer<typeof ArrivedResult>;

/** What a run carries of its sub-agents over continue-as-new. */
export const CarriedSubagents = z.strictObject({
  /** The sub-agents started so far, of each agent. */
  started: z.array(z.tuple([z.string(), z.number().int()])),
  live: z.array(LiveSubagent),
  /** The newest ones. */
  ended: z.array(EndedSubagent),
  /** Results for the model, in the order of the ends. Absent without any, so that an older build can read the state. */
  arrived: z.array(ArrivedResult).optional(),
  /** The model has answered, and the run waits for sub-agents in the background. */
  answered: z.boolean().optional(),
});
export type CarriedSubagents = z.infer<typeof CarriedSubagents>;

/** What `prepareRun` captured for the tool `delegate`. */
export interface PreparedDelegation {
  /** The agents that the run may delegate to. */
  readonly agents: readonly DelegateAgent[];
  /** Levels of sub-agents below this run, at least 1. */
  readonly depthLeft: number;
  /** Sub-agents at once. More wait. */
  readonly liveMax: number;
  /** Starts of sub-agents need a signature of the server's owner. */
  readonly signs?: boolean;
  /** Calls with `wait: false` may start sub-agents in the background. Absent: the run was prepared by a build without them. */
  readonly background?: { readonly onEnd: SubagentsOnEnd };
}

/** An agent that a run may delegate to. `hasModel`: it names a model of its own. */
export interface DelegateAgent {
  readonly name: string;
  readonly hasModel?: boolean;
}

/** Input of activity `awaitRun`: a sub-agent, and the first of its executions. */
export type AwaitRunInput = Pick<LiveSubagent, 'runId' | 'executionId'>;
