import type { PendingApproval } from '../../../../contracts/schemas/approval.js';
import type { Progress, RunResult } from '../../../../contracts/schemas/run.js';

/** A run in a list: what the page reads of an entry of `GET /v1/runs`. */
export interface RunItem {
  readonly runId: string;
  readonly status: string;
  readonly task?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly session?: string;
  readonly turns?: number;
  readonly costUsd?: number;
  readonly startedAt: string;
  readonly closedAt?: string;
}

/** The answer of `GET /v1/runs/{id}`. */
export interface RunState {
  readonly progress: Progress;
  readonly run: RunItem;
  readonly result?: RunResult;
}

/** An entry of `GET /v1/sessions`. */
export interface SessionItem {
  readonly key: string;
  readonly status: string;
  readonly agent?: string;
  readonly startedAt: string;
}

/** An entry of `GET /v1/runs/{id}/approvals`. */
export type ShownApproval = Pick<PendingApproval, 'callId' | 'tool' | 'title' | 'args' | 'since' | 'expires' | 'reason'>;
