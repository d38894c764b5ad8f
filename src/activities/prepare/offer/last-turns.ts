import { Context } from '@temporalio/activity';
import { z } from 'zod';
import { RECALL_LEVEL } from '../../../contracts/capability-level.js';
import { MEMORY_LIMITS } from '../../../contracts/constants/limits.js';
import { AGENT_RUN } from '../../../contracts/handlers.js';
import type { Message } from '../../../contracts/schemas/message.js';
import { RunInput } from '../../../contracts/schemas/run.js';
import type { Config } from '../../../define/define-config.js';
import type { MemoryDefinition } from '../../../define/worker/memory.js';

/** The earlier runs whose turns a new run is given. */
export interface WantedTurns {
  /** Name of the agent. */
  readonly agent: string;
  /** Without the suffix of a thread. Absent: runs without a channel. */
  readonly channel: string | undefined;
  readonly tenant: string | undefined;
  /** Runs of other workspaces, and without one, are not the same conversation: their starts may need no signature. */
  readonly workspace: string | undefined;
  readonly count: number;
}

/** Turns of earlier runs: a task and an answer for each, the oldest first. `notices`: where they come from, or why there are none. */
export interface RecalledTurns {
  readonly messages: readonly Message[];
  readonly notices: readonly string[];
}

/** Reads the last turns of earlier runs. Throws when the server cannot be reached. */
export type RecallTurns = (wanted: WantedTurns) => Promise<RecalledTurns>;

/** How OpenClaw names a thread of a channel. All threads of a channel share its turns. */
const THREAD = /:thread:.*$/su;

/** The last turns for a run; none for workflow code that does not load them, and without a function that reads them, as in previews. */
export async function recallLastTurns(
  input: RunInput,
  { name, level = 0 }: { readonly name: string; readonly level: number | undefined },
  { config, recallTurns }: { readonly config: Config; readonly recallTurns?: RecallTurns },
): Promise<RecalledTurns> {
  const wanted = level < RECALL_LEVEL ? undefined : wantedTurns(input, name, config.memory ?? {});
  return wanted && recallTurns ? await recallTurns(wanted) : { messages: [], notices: [] };
}

/**
 * The turns that a run is given; undefined when it starts fresh: without `lastTurns`, and when it has a conversation already, as a
 * continued run, a run of a session, a sub-agent and a run with given messages do.
 */
function wantedTurns(
  { context, session, messages, continuedFrom, inherits, parent, tenant }: RunInput,
  agent: string,
  { lastTurns = 0, channels = {} }: MemoryDefinition,
): WantedTurns | undefined {
  const channel = context?.channel?.replace(THREAD, '');
  const count = (channel !== undefined && Object.hasOwn(channels, channel) ? channels[channel]?.lastTurns : undefined) ?? lastTurns;
  const hasConversation = [session, messages, continuedFrom, inherits, parent].some((given) => given !== undefined);
  if (count === 0 || hasConversation) return undefined;
  return { agent, channel, tenant, workspace: context?.workspace, count };
}

/**
 * Makes the function that reads turns from the histories of the runs themselves, with the client of the running activity. `isSearchable`: the
 * server has the search attribute of the agent.
 */
export function createRecallTurns({ isSearchable }: { readonly isSearchable: boolean }): RecallTurns {
  return async (wanted) => {
    if (!isSearchable) return { messages: [], notices: [UNSEARCHABLE] };
    const { client, info } = Context.current();
    const { connection, options } = client;
    const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
    const { taskQueue } = await client.workflow.getHandle(workflowId, runId).describe();
    const query = [
      `WorkflowType = '${AGENT_RUN}'`,
      `ExecutionStatus = 'Completed'`,
      `TaskQueue = ${quoted(taskQueue)}`,
      `AgentName = ${quoted(wanted.agent)}`,
    ].join(' AND ');
    const request = { namespace: options.namespace, query, pageSize: MEMORY_LIMITS.turnsLookedAtMax };
    const turns: Turn[] = [];
    let unreadable = 0;
    let chars = 0;
    // the newest first; the list of the client would decode memos, and end at one that it cannot decode
    for (const { execution } of (await connection.workflowService.listWorkflowExecutions(request)).executions) {
      const turn = await readTurn(client, { workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' }, wanted);
      if (turn === 'unreadable') {
        unreadable += 1;
        continue;
      }
      chars += turn ? JSON.stringify(turn).length : 0;
      if (chars > MEMORY_LIMITS.turnsCharsMax) break;
      if (turn) turns.push(turn);
      if (turns.length >= wanted.count) break;
    }
    turns.reverse();
    const notices = [...(turns.length > 0 ? [sourceOf(turns)] : []), ...(unreadable > 0 ? [leftOut(unreadable)] : [])];
    return { messages: turns.flatMap(({ messages }) => messages), notices };
  };
}

const UNSEARCHABLE = "memory.lastTurns is not used: the server cannot search for agents; run 'perdure doctor --fix'";

function sourceOf(turns: readonly Turn[]): string {
  return `begins with ${turns.length} ${turns.length === 1 ? 'turn' : 'turns'} of earlier runs: ${turns.map(({ runId }) => runId).join(', ')}`;
}

function leftOut(count: number): string {
  return `${count} earlier ${count === 1 ? 'run' : 'runs'} could not be read, and may be missing`;
}

/** The turn of an earlier run. */
interface Turn {
  readonly runId: string;
  readonly messages: readonly Message[];
}

type ActivityClient = Context['client'];

/** A run, in one of its histories. */
interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}

/** What counts of a result. Histories of earlier versions have more and fewer fields. */
const Answer = z.object({ reason: z.string(), output: z.string() });

/**
 * The turn of a run, as `findTurn` finds it. A run whose data cannot be decoded, such as after a change of keys, does not keep others from
 * starting, and neither does one that the server deleted since it listed it.
 */
async function readTurn(client: ActivityClient, run: Execution, wanted: WantedTurns): Promise<Turn | 'unreadable' | undefined> {
  try {
    return await findTurn(client, run, wanted);
  } catch (error) {
    const code = serverCode(error);
    if (code === GRPC_NOT_FOUND) return undefined;
    if (code !== undefined) throw error;
    return 'unreadable';
  }
}

const GRPC_NOT_FOUND = 5;

/** The status of a request that the server did not answer; undefined for another error. */
function serverCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'WorkflowNotFoundError') return GRPC_NOT_FOUND;
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'number' && 'details' in error ? code : serverCode(error.cause);
}

/** The turn of a run; undefined for a run of another conversation, and for one that a person stopped or that has no answer. */
async function findTurn(client: ActivityClient, { workflowId, runId }: Execution, wanted: WantedTurns): Promise<Turn | undefined> {
  // runs of sessions and sub-agents
  if (workflowId.includes('/')) return undefined;
  const input = RunInput.safeParse(await readInput(client, { workflowId, runId })).data;
  if (!input || !isOfConversation(input, wanted)) return undefined;
  const answer = Answer.safeParse(await client.workflow.getHandle(workflowId, runId).result()).data;
  if (!answer || answer.reason === 'cancelled' || answer.output.trim() === '') return undefined;
  const messages = [message(`${workflowId}/task`, 'user', taskText(input)), message(`${workflowId}/answer`, 'assistant', answer.output)];
  return { runId: workflowId, messages };
}

function isOfConversation({ context, session, tenant }: RunInput, wanted: WantedTurns): boolean {
  if (session !== undefined || tenant !== wanted.tenant || context?.workspace !== wanted.workspace) return false;
  return context?.channel?.replace(THREAD, '') === wanted.channel;
}

/** The first argument of a run, from its first event. Undefined if the server no longer has it. */
async function readInput({ connection, options }: ActivityClient, execution: Execution): Promise<unknown> {
  const { namespace, loadedDataConverter } = options;
  const page = await connection.workflowService.getWorkflowExecutionHistory({ namespace, execution, maximumPageSize: 1 });
  const payload = page.history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  if (!payload) return undefined;
  let decoded = payload;
  for (const codec of loadedDataConverter.payloadCodecs.toReversed()) [decoded = decoded] = await codec.decode([decoded]);
  return loadedDataConverter.payloadConverter.fromPayload(decoded);
}

function taskText({ task }: RunInput): string {
  if (typeof task === 'string') return task;
  return task.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}

function message(id: string, role: 'user' | 'assistant', text: string): Message {
  const charsMax = MEMORY_LIMITS.turnTextCharsMax;
  const shown = text.length <= charsMax ? text : `${text.slice(0, charsMax).toWellFormed()}\n[cut after ${charsMax} characters]`;
  return { id, role, parts: [{ type: 'text', text: shown }] };
}

/** A text of a visibility query. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
