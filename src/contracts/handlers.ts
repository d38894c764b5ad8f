import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { RunSetup } from './activities.js';
import type { EventPage, RunEvent } from './event.js';
import type { Usage } from './model.js';
import type { ExtendInput, Progress, Receipt, RunResult, SteerInput, TranscriptPage } from './run.js';

/** The signals, updates and queries of a run, under the names every language uses. */
export const steer = defineSignal<[SteerInput]>('steer');
export const cancel = defineSignal<[{ reason?: string }?]>('cancel');
export const pause = defineSignal('pause');
export const resume = defineSignal('resume');

export const submit = defineUpdate<Receipt, [SteerInput]>('submit');
export const extend = defineUpdate<Progress, [ExtendInput]>('extend');

export const progress = defineQuery<Progress>('progress');
export const transcript = defineQuery<TranscriptPage, [{ from: number; to?: number; bytesMax?: number }]>('transcript');
export const events = defineQuery<EventPage, [{ after: number; types?: readonly RunEvent['type'][] }]>('events');
export const usage = defineQuery<{ total: Usage; last?: Usage; costUsd?: number }>('usage');
export const setup = defineQuery<RunSetup>('setup');
export const result = defineQuery<RunResult | null>('result');

/** Workflow type and default queue, for clients of any language. */
export const AGENT_RUN = 'agentRun';
export const DEFAULT_TASK_QUEUE = 'perdure';

/** What an operator reads beside each handler in the Web UI. */
export const HANDLER_DESCRIPTIONS = {
  steer:
    'Put a message into the run: {"text": "…", "id"?: "…"}. It is read before the next model request; the same id twice is one message.',
  cancel: 'Stop the run: {"reason"?: "…"}. Running calls are aborted, no new one starts, the run completes with reason cancelled.',
  pause: 'Let running calls finish and start no further one, until resume.',
  resume: 'Go on after pause.',
  submit: 'Like steer, with a receipt: {id, accepted, position, duplicate}.',
  extend:
    'Raise caps of the live run: {"turns"?: 10, "costUsd"?: 1, "tokens"?: 1000, "deadlineMs"?: 60000}. Each is added to the present cap.',
  progress: 'Status, phase, turn of cap, what it waits for, usage and cost.',
  transcript: 'The messages, in pages: {"from": 0, "to"?: n, "bytesMax"?: 65536}.',
  events: 'What happened, in order: {"after": 0, "types"?: ["tool.call"]}. The last 1,000 or 256 KiB.',
  usage: 'Tokens of the run and of its last model call, and their cost.',
  setup: 'Prompt and tools as captured at the start of the run.',
  result: 'The result once the run is closed; null before.',
} as const;
