import type { ApprovalList, DecidedApproval, PendingApproval } from '../contracts/approval.js';
import type { CarriedState } from '../contracts/carried-state.js';
import { DECISION_LIMITS } from '../contracts/limits.js';

/** The calls of a run that wait for a person, and what was decided. Updates write it, the loop reads it; nothing here awaits. */
export class Approvals {
  readonly #pending: Map<string, PendingApproval>;
  readonly #decided: Map<string, DecidedApproval>;

  constructor(carried?: CarriedState['approvals']) {
    this.#pending = new Map(carried?.pending.map((approval) => [approval.callId, approval]));
    this.#decided = new Map(carried?.decided.map((approval) => [approval.callId, approval]));
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  ask(approval: PendingApproval): void {
    this.#pending.set(approval.callId, approval);
  }

  pending(callId: string): PendingApproval | undefined {
    return this.#pending.get(callId);
  }

  decided(callId: string): DecidedApproval | undefined {
    return this.#decided.get(callId);
  }

  /** Ends a pending approval; the first decision stands. */
  decide(decision: DecidedApproval): void {
    if (!this.#pending.delete(decision.callId)) return;
    this.#decided.set(decision.callId, decision);
    if (this.#decided.size <= DECISION_LIMITS.decidedKept) return;
    const [oldest] = this.#decided.keys();
    if (oldest !== undefined) this.#decided.delete(oldest);
  }

  list(): ApprovalList {
    return { pending: [...this.#pending.values()], decided: [...this.#decided.values()] };
  }

  /** What continue-as-new carries. */
  carry(): CarriedState['approvals'] {
    return { pending: [...this.#pending.values()], decided: [...this.#decided.values()] };
  }
}
