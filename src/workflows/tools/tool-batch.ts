import { hashJson } from '../../contracts/digest.js';
import type { PendingApproval } from '../../contracts/schemas/approval.js';
import type { CallDecision, TurnInProgress } from '../../contracts/schemas/carried-state.js';
import type { ToolCallPart } from '../../contracts/schemas/message.js';
import { toolTitle } from '../../contracts/text/tool-title.js';
import type { SettledCall } from './settled-call.js';

/** Why the remaining calls of a batch are not started. */
export type BatchEnd = { readonly kind: 'abort'; readonly by: string; readonly reason: string } | { readonly kind: 'preempted' };

/** The calls of one answer with their decisions and their results so far, by position. */
export class ToolBatch {
  readonly calls: readonly ToolCallPart[];
  readonly decisions: (CallDecision | null)[];
  end: BatchEnd | undefined;
  readonly #settled: (SettledCall | undefined)[];
  readonly #workspace: string | undefined;

  constructor({ calls, results, decisions }: TurnInProgress, workspace: string | undefined) {
    this.calls = calls;
    this.decisions = calls.map((_, index) => decisions[index] ?? null);
    this.#settled = calls.map((_, index) => {
      const result = results[index];
      return result ? { ...result, returned: true } : undefined;
    });
    this.#workspace = workspace;
  }

  /** Positions without a result, in call order. */
  get open(): number[] {
    return [...this.calls.keys()].filter((index) => !this.#settled[index]);
  }

  /** The call as the model made it. */
  call(index: number): ToolCallPart {
    const call = this.calls[index];
    if (!call) throw new RangeError(`no call ${index} in this batch`);
    return call;
  }

  /** The call as it runs: a hook may have replaced its arguments; the transcript keeps the model's own. */
  effective(index: number): ToolCallPart {
    const call = this.call(index);
    const args = this.decisions[index]?.args;
    if (args === undefined) return call;
    const { argsText: _, ...rest } = call;
    return { ...rest, args };
  }

  settled(index: number): SettledCall | undefined {
    return this.#settled[index];
  }

  settle(index: number, call: SettledCall): void {
    this.#settled[index] = call;
  }

  /** The approval request of a call. */
  approval(index: number, { turn, expireMs }: { readonly turn: number; readonly expireMs: number }): PendingApproval {
    const { callId, name: tool, args } = this.effective(index);
    const { by, reason } = this.decisions[index] ?? { by: 'gate' };
    const now = Date.now();
    return {
      callId,
      tool,
      title: toolTitle(tool, args),
      args,
      hash: this.hash(index),
      askedBy: by,
      ...(reason === undefined ? {} : { reason }),
      turn,
      since: new Date(now).toISOString(),
      expires: new Date(now + expireMs).toISOString(),
    };
  }

  /** The hash that a decision applies to: this tool with these arguments in this workspace. */
  hash(index: number): string {
    const { name: tool, args } = this.effective(index);
    return hashJson({ tool, args, workspace: this.#workspace });
  }

  /** The state that continue-as-new carries over. */
  carry(): TurnInProgress {
    return {
      calls: [...this.calls],
      results: this.#settled.map((call) => (call ? { message: call.message, hash: call.hash } : null)),
      decisions: this.decisions,
    };
  }
}
