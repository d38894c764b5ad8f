import { z } from 'zod';
import { GATEWAY_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { checkInput } from '../check-input.js';
import type { Door } from './door.js';
import { statusOf } from './run-status.js';
import { type Waited, type WaitOptions, waitForRun } from './wait-for-run.js';

/** One call of a client. */
export interface ToolCall extends Pick<WaitOptions, 'signal' | 'report'> {
  /** The name of the client, for other operators: `mcp:claude-code`. */
  readonly by: string;
}

/** A tool of the server. */
export interface RunTool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly effect: 'read' | 'change' | 'destructive';
  /** Throws PerdureError. */
  run(given: unknown, door: Door, call: ToolCall): Promise<object>;
}

const RunId = z.string().describe('ID of the run, from run_start or runs_list');
const CallId = z.string().describe('callId of the pending approval, from run_status');
const QuestionId = z.string().describe('callId of the pending question, from run_status');

/** The tools of the server, in the order in which clients list them. */
export function runTools({ decides }: Pick<Door, 'decides'>): readonly RunTool[] {
  return [...LOOK_AND_STEER, ...(decides ? DECIDE : [])];
}

const LOOK_AND_STEER: readonly RunTool[] = [
  define({
    name: 'agents_list',
    description: 'List the agents that run_start can run.',
    effect: 'read',
    input: z.strictObject({}),
    run: async (_, door) => ({ agents: await door.agents() }),
  }),
  define({
    name: 'run_start',
    description:
      'Start an agent run in the background and return its runId at once. The run survives crashes and continues when this client ' +
      'disconnects. To make a repeated call safe, pass an id: with the same id and input, the call returns the same run.',
    effect: 'change',
    input: z.strictObject({
      task: z.string().describe('The task, complete in itself: the agent sees nothing of this conversation'),
      agent: z.string().optional().describe('Name of an agent from agents_list; default: default'),
      workspace: z.string().optional().describe('Folder that the agent works in, inside the folder of this server'),
      model: z.string().optional().describe('Model as provider/model; default: that of the agent'),
      id: z.string().optional().describe('Run ID; default: a new one'),
      maxTurns: z.number().optional().describe('Maximum number of turns'),
      maxCostUsd: z.number().optional().describe('Maximum cost in USD'),
    }),
    run: (request, door) => door.start(request),
  }),
  define({
    name: 'run_wait',
    description:
      'Wait for the end of a run. Returns done: false and the progress after timeoutMs, or when a tool call needs an approval or a question ' +
      'an answer: decide with run_approve or run_deny, answer with run_answer, then call run_wait again.',
    effect: 'read',
    input: z.strictObject({
      runId: RunId,
      timeoutMs: z
        .number()
        .int()
        .min(0)
        .max(GATEWAY_LIMITS.waitMsMax)
        .default(GATEWAY_LIMITS.waitMsDefault)
        .describe('How long to wait, in milliseconds'),
    }),
    run: async ({ runId, timeoutMs }, door, { signal, report }): Promise<Waited> =>
      await waitForRun((await door.client()).get(runId), { timeoutMs, untilAsked: door.decides, signal, report }),
  }),
  define({
    name: 'run_status',
    description: 'Show the state of a run: status, turn, the cause of a wait, the cost so far, pending approvals and pending questions.',
    effect: 'read',
    input: z.strictObject({ runId: RunId }),
    run: async ({ runId }, door) => await statusOf((await door.client()).get(runId)),
  }),
  define({
    name: 'run_result',
    description:
      'Return the result of a closed run: its answer, why it ended, turns, tokens and cost. Fails with RUN_OPEN while the run is open.',
    effect: 'read',
    input: z.strictObject({ runId: RunId }),
    async run({ runId }, door) {
      const run = (await door.client()).get(runId);
      const { open } = await run.describe();
      if (open) throw new PerdureError('RUN_OPEN', `run ${runId} is open; wait for its end with run_wait`, 4);
      return await run.result();
    },
  }),
  define({
    name: 'run_steer',
    description: 'Send a message to an open run. The agent reads it before its next turn.',
    effect: 'change',
    input: z.strictObject({ runId: RunId, text: z.string().describe('The message') }),
    run: async ({ runId, text }, door) => await (await door.client()).get(runId).steer(text),
  }),
  define({
    name: 'run_cancel',
    description: 'Cancel a run. It ends with reason cancelled. Its changes are not undone.',
    effect: 'destructive',
    input: z.strictObject({ runId: RunId, reason: z.string().optional().describe('Reason, which the result contains') }),
    async run({ runId, reason }, door, { by }) {
      const answer = await (await door.client()).get(runId).cancel({ reason: reason ?? `cancelled by ${by}` });
      return { runId, ...answer };
    },
  }),
  define({
    name: 'runs_list',
    description: 'List runs, newest first.',
    effect: 'read',
    input: z.strictObject({
      status: z.enum(['open', 'closed']).optional().describe('Only the open or only the closed ones; default: all'),
      limit: z.number().int().min(1).max(GATEWAY_LIMITS.listedMax).default(GATEWAY_LIMITS.listedDefault).describe('Maximum number of runs'),
    }),
    run: async ({ status, limit }, door) => ({
      runs: await (await door.client()).list({ limit, ...(status === undefined ? {} : { status }) }),
    }),
  }),
];

const DECIDE: readonly RunTool[] = [
  define({
    name: 'run_answer',
    description: 'Answer a question of a run, as run_status shows it: with a text, or with one of its choices or the number of a choice.',
    effect: 'change',
    input: z.strictObject({ runId: RunId, callId: QuestionId, answer: z.string().describe('The answer') }),
    run: async ({ runId, callId, answer }, door, { by }) => await (await door.client()).get(runId).answer(callId, answer, { by }),
  }),
  define({
    name: 'run_approve',
    description: 'Approve a tool call that waits for approval. It runs once, with the arguments that run_status shows.',
    effect: 'destructive',
    input: z.strictObject({ runId: RunId, callId: CallId }),
    run: async ({ runId, callId }, door, { by }) => await (await door.client()).get(runId).approve(callId, { by }),
  }),
  define({
    name: 'run_deny',
    description: 'Deny a tool call that waits for approval, or decline a question. The agent sees the reason.',
    effect: 'change',
    input: z.strictObject({
      runId: RunId,
      callId: CallId.describe('callId of the pending approval or question, from run_status'),
      reason: z.string().optional().describe('Reason, which the agent reads'),
    }),
    run: async ({ runId, callId, reason }, door, { by }) =>
      await (await door.client()).get(runId).deny(callId, { by, ...(reason === undefined ? {} : { reason }) }),
  }),
];

interface Definition<Input extends z.ZodObject> extends Omit<RunTool, 'input' | 'run'> {
  readonly input: Input;
  run(input: z.output<Input>, door: Door, call: ToolCall): Promise<object>;
}

/** A tool whose input is checked before it runs. */
function define<Input extends z.ZodObject>(tool: Definition<Input>): RunTool {
  return { ...tool, run: async (given, door, call) => await tool.run(checkInput(tool.input, given), door, call) };
}
