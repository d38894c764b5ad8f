import { DECISION_LIMITS, PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { ApprovalList, DecidedApproval, PendingApproval } from '../../contracts/schemas/approval.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import { fitApprovals, shownArgs } from '../policies/tools/truncate-approvals.js';

/** The calls of a run that wait for a person, and what was decided. Updates write it, the loop reads it; nothing here awaits. */
export class Approvals {
  readonly #pending: Map<string, PendingApproval>;
  readonly #decided: Map<string, DecidedApproval>;
  /** The number that operators last saw as a search attribute. */
  publishedCount: number;

  constructor(carried?: CarriedState['approvals']) {
    this.#pending = new Map(carried?.pending.map((approval) => [approval.callId, approval]));
    this.#decided = new Map(carried?.decided.map((approval) => [approval.callId, approval]));
    this.publishedCount = this.#pending.size;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  /**
   * Adds a call that waits. The call itself keeps its whole arguments, to which the hash binds; here they are as operators read them.
   * Old decisions are forgotten here and not when they are made: those of the calls that wait together are all still to be read.
   */
  ask(approval: PendingApproval): void {
    this.#pending.set(approval.callId, { ...approval, args: shownArgs(approval.args, DECISION_LIMITS.argsShownBytesMax) });
    for (const callId of this.#decided.keys()) {
      if (this.#decided.size <= DECISION_LIMITS.decidedKept) return;
      this.#decided.delete(callId);
    }
  }

  pending(callId: string): PendingApproval | undefined {
    return this.#pending.get(callId);
  }

  decided(callId: string): DecidedApproval | undefined {
    return this.#decided.get(callId);
  }

  /** Ends a pending approval and gives the decision; undefined when none was pending: the first decision stands. */
  decide(decision: Omit<DecidedApproval, 'tool' | 'hash'>): DecidedApproval | undefined {
    const pending = this.#pending.get(decision.callId);
    if (!pending) return undefined;
    const decided: DecidedApproval = { ...decision, tool: pending.tool, hash: pending.hash };
    this.#pending.delete(decision.callId);
    // deleted first, so that an id that is asked about again counts as new
    this.#decided.delete(decision.callId);
    this.#decided.set(decision.callId, decided);
    return decided;
  }

  /** Those whose time is over at `now` (milliseconds since 1970). */
  due(now: number): readonly PendingApproval[] {
    return [...this.#pending.values()].filter(({ expires }) => expires !== undefined && Date.parse(expires) <= now);
  }

  /** When the next one's time is over, in milliseconds since 1970; undefined when none ever is. */
  get nextExpiry(): number | undefined {
    const times = [...this.#pending.values()].flatMap(({ expires }) => (expires === undefined ? [] : [Date.parse(expires)]));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** For query `approvals`: bounded, so that it fits one answer. */
  list(): ApprovalList {
    return fitApprovals(this.carry(), PAYLOAD_LIMITS.outsideBytesMax);
  }

  /** What continue-as-new carries. */
  carry(): CarriedState['approvals'] {
    return { pending: [...this.#pending.values()], decided: [...this.#decided.values()] };
  }
}
