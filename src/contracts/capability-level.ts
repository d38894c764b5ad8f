import type { RunPolicy } from './schemas/policy.js';

/**
 * What the workflow code of a build can do, as a number that grows with each build whose policy has a new field. In a rolling deployment a
 * run may be started by the old workflow code and prepared by the new activities. Without a level its history would hold fields that the
 * old code ignored and the new code obeys when it replays them: other commands, and a run that no worker can continue.
 */
export const CAPABILITY_LEVEL = 14;

/** The first level whose workflow code checks the signatures of approvals and extensions. */
export const SIGNED_LEVEL = 3;

/** The first level whose workflow code asks the ledger of its tenant. */
export const TENANT_LEVEL = 4;

/** The first level whose workflow code starts sub-agents. */
export const DELEGATION_LEVEL = 5;

/** The first level whose workflow code continues the conversation of a session. */
export const CONVERSATION_LEVEL = 6;

/** The first level whose workflow code follows sub-agents in the background, and hands a conversation over to another agent. */
export const HANDOFF_LEVEL = 7;

/** The first level whose workflow code ends the background commands of its run. */
export const COMMANDS_LEVEL = 8;

/** The first level whose workflow code waits for answers of people, sleeps, and takes changed tools of MCP servers. */
export const WAIT_LEVEL = 9;

/** The first level whose workflow code takes questions of running calls. */
export const ELICITATION_LEVEL = 10;

/** The first level whose workflow code begins with the last turns of earlier runs. */
export const RECALL_LEVEL = 11;

/** The first level whose workflow code answers the requests of running calls for completions. */
export const SAMPLING_LEVEL = 12;

/** The first level whose workflow code tells only the sub-agents that its history started that it continues as new. */
const OWN_SUBAGENTS_LEVEL = 13;

/** The first level whose workflow code handles a stop that comes while a model call fails. */
const STOPPED_FAILURES_LEVEL = 14;

/** The level of builds that did not tell theirs. */
const LEVEL_OF_OLD_BUILDS = 1;

/** A field of the policy that earlier code can do without: a flag that may be false, or an option that may be absent. */
type LaterField = {
  [Name in keyof RunPolicy]-?: RunPolicy[Name] extends boolean ? Name : undefined extends RunPolicy[Name] ? Name : never;
}[keyof RunPolicy];

type FieldsOfLevels = ReadonlyMap<number, readonly LaterField[]>;

/** The fields of the policy that a level brought. Earlier code behaves as if a flag of them is false and an option of them absent. */
export const FIELDS_OF_LEVELS: FieldsOfLevels = new Map([
  [2, ['continuesAtFloods', 'limitsBadArguments', 'limitsInbox', 'localReadTools', 'provesLosses', 'reportsTurns']],
  // no field: whether a run's decisions are signed is the worker's choice, not the policy's
  [SIGNED_LEVEL, []],
  // no field: whether a tenant has limits is the worker's choice
  [TENANT_LEVEL, []],
  // no field: sub-agents are a choice of the agent
  [DELEGATION_LEVEL, []],
  // no field: the conversation of a run is a choice of its session
  [CONVERSATION_LEVEL, []],
  // no field: sub-agents in the background and handoffs are choices of the agent
  [HANDOFF_LEVEL, []],
  // no field: background commands are a choice of the agent
  [COMMANDS_LEVEL, []],
  // no field: tools that wait are a choice of the agent, and MCP servers one of the worker
  [WAIT_LEVEL, []],
  // no field: whether MCP servers may ask is the worker's choice
  [ELICITATION_LEVEL, []],
  // no field: how many turns a run is given is the worker's choice
  [RECALL_LEVEL, []],
  // no field: whether MCP servers may request completions is the worker's choice
  [SAMPLING_LEVEL, []],
  [OWN_SUBAGENTS_LEVEL, ['tellsOwnSubagents']],
  [STOPPED_FAILURES_LEVEL, ['stopsOutrankFailures']],
]);

/** The policy for workflow code of a level: without the options of later levels, and with their flags off. */
export function clampPolicy(
  policy: RunPolicy,
  level: number = LEVEL_OF_OLD_BUILDS,
  fieldsOfLevels: FieldsOfLevels = FIELDS_OF_LEVELS,
): RunPolicy {
  const later = [...fieldsOfLevels].flatMap(([brought, fields]) => (brought > level ? fields : []));
  return { ...policy, ...Object.fromEntries(later.map((name) => [name, typeof policy[name] === 'boolean' ? false : undefined])) };
}
