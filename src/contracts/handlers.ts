import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { RunSetup } from './activities.js';
import type { EventPage, RunEvent } from './event.js';
import type { ApprovalList, ApproveInput, DecidedApproval, DenyInput } from './schemas/approval.js';
import type { Usage } from './schemas/model.js';
import type { ExtendInput, HoldInput, Progress, Receipt, RunResult, SteerInput, SteerRecord, Step, TranscriptPage } from './schemas/run.js';
import { SIGNALS, UPDATES } from './verbs/index.js';

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

const DESCRIBED_VERBS = {
  ...describe(SIGNALS),
  ...describe(UPDATES),
};

/** What an operator reads beside each handler in the Web UI. */
export const HANDLER_DESCRIPTIONS = {
  ...DESCRIBED_VERBS,
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

function describe<Name extends string>(verbs: Readonly<Record<Name, { readonly description: string }>>): Readonly<Record<Name, string>> {
  const described = Object.entries<{ readonly description: string }>(verbs).map(([name, { description }]) => [name, description]);
  // the same names as the verbs
  return Object.fromEntries(described) as Record<Name, string>;
}
