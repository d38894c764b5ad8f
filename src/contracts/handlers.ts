import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { RunSetup } from './activities.js';
import type { EventPage, RunEvent } from './event.js';
import type { ApprovalList, ApproveInput, DecidedApproval, DenyInput } from './schemas/approval.js';
import type { Usage } from './schemas/model.js';
import type { ExtendInput, HoldInput, Progress, Receipt, RunResult, SteerInput, SteerRecord, Step, TranscriptPage } from './schemas/run.js';

/** The signals, updates and queries of a run, under the names every language uses. */
export const steer = defineSignal<[SteerInput]>('steer');
export const cancel = defineSignal<[{ reason?: string }?]>('cancel');
export const pause = defineSignal('pause');
export const resume = defineSignal('resume');
export const hold = defineSignal<[HoldInput?]>('hold');
export const release = defineSignal('release');

export const submit = defineUpdate<Receipt, [SteerInput]>('submit');
export const extend = defineUpdate<Progress, [ExtendInput]>('extend');
export const approve = defineUpdate<DecidedApproval, [ApproveInput]>('approve');
export const deny = defineUpdate<DecidedApproval, [DenyInput]>('deny');

export const progress = defineQuery<Progress>('progress');
export const transcript = defineQuery<TranscriptPage, [{ from: number; to?: number; bytesMax?: number }]>('transcript');
export const events = defineQuery<EventPage, [{ after: number; types?: readonly RunEvent['type'][] }]>('events');
export const usage = defineQuery<{ total: Usage; last?: Usage; costUsd?: number }>('usage');
export const setup = defineQuery<RunSetup>('setup');
export const approvals = defineQuery<ApprovalList>('approvals');
export const steers = defineQuery<readonly SteerRecord[]>('steers');
export const steps = defineQuery<readonly Step[]>('steps');
export const result = defineQuery<RunResult | null>('result');

/** Workflow type and default queue, for clients of any language. */
export const AGENT_RUN = 'agentRun';
export const DEFAULT_TASK_QUEUE = 'perdure';

/** What an operator reads beside each handler in the Web UI. */
export const HANDLER_DESCRIPTIONS = {
  steer:
    'Put a message into the run: {"text": "…", "id"?: "…", "mode"?: "boundary" | "preempt" | "interrupt"}. It is read before the next ' +
    'model request; preempt skips calls that were not started, interrupt also aborts the running model call. The same id twice is one message.',
  cancel: 'Stop the run: {"reason"?: "…"}. Running calls are aborted, no new one starts, the run completes with reason cancelled.',
  pause: 'Let running calls finish and start no further one, until resume.',
  resume: 'Go on after pause.',
  hold: 'Yield between turns while a live conversation goes on: {"ttlMs"?: 600000, "by"?: "…"}. It lets go by itself when the time is over.',
  release: 'End a hold.',
  approve: 'Let a waiting call run: {"callId": "…", "by"?: "…"}. Current details and query approvals list what waits.',
  deny: 'Refuse a waiting call: {"callId": "…", "by"?: "…", "reason"?: "…"}. Deny "budget" to let a run with a spent budget give its final answer.',
  submit: 'Like steer, with a receipt: {"text": "…", "id"?: "…"} gives {id, accepted, position, duplicate}.',
  extend:
    'Raise caps of the live run: {"turns"?: 10, "costUsd"?: 1, "tokens"?: 1000, "deadlineMs"?: 60000}. Each is added to the present cap.',
  progress: 'Status, phase, turn of cap, what it waits for, usage and cost.',
  transcript: 'The messages, in pages: {"from": 0, "to"?: n, "bytesMax"?: 65536}.',
  events: 'What happened, in order: {"after": 0, "types"?: ["tool.call"]}. The last 1,000 or 256 KiB.',
  usage: 'Tokens of the run and of its last model call, and their cost.',
  setup: 'Prompt and tools as captured at the start of the run.',
  approvals: 'Calls that wait for a person, and what was decided.',
  steers: 'What became of each message that was put into the run.',
  steps: 'How each turn went: status, times, usage, calls. Answers after the end too.',
  result: 'The result once the run is closed; null before.',
} as const;
