import { DECISION_LIMITS, PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { ApprovalList, DecidedApproval, PendingApproval } from '../../contracts/schemas/approval.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import { fitApprovals, shownArgs } from '../policies/tools/truncate-approvals.js';

/** The pending and decided approvals of a run. Updates write them and the loop reads them. Nothing here awaits. */
export class Approvals {
  readonly #pending: Map<string, PendingApproval>;
  readonly #decided: Map<string, DecidedApproval>;
  /** The last published value of the search attribute. */
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
   * Adds a pending approval. Its arguments are shortened for operators; the call keeps the whole ones, to which the hash applies. The
   * oldest decisions are dropped here and not in `decide`, because the loop has yet to read the decisions of the current batch.
   */
  add(approval: PendingApproval): void {
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

  /** Ends a pending approval and returns the decision. Undefined when none is pending: the first decision counts. */
  decide(decision: Omit<DecidedApproval, 'tool' | 'hash'>): DecidedApproval | undefined {
    const pending = this.#pending.get(decision.callId);
    if (!pending) return undefined;
    const decided: DecidedApproval = { ...decision, tool: pending.tool, hash: pending.hash };
    this.#pending.delete(decision.callId);
    // deleted first, so that a repeated id moves to the newest position
    this.#decided.delete(decision.callId);
    this.#decided.set(decision.callId, decided);
    return decided;
  }

  /** The approvals that have expired at `now` (milliseconds since 1970). */
  due(now: number): readonly PendingApproval[] {
    return [...this.#pending.values()].filter(({ expires }) => expires !== undefined && Date.parse(expires) <= now);
  }

  /** The next expiry in milliseconds since 1970; undefined when no pending approval expires. */
  get nextExpiry(): number | undefined {
    const times = [...this.#pending.values()].flatMap(({ expires }) => (expires === undefined ? [] : [Date.parse(expires)]));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** The answer of query `approvals`, limited to the size of one query answer. */
  list(): ApprovalList {
    return fitApprovals(this.carry(), PAYLOAD_LIMITS.outsideBytesMax);
  }

  /** The state that continue-as-new carries over. */
  carry(): CarriedState['approvals'] {
    return { pending: [...this.#pending.values()], decided: [...this.#decided.values()] };
  }
}
