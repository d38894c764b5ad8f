/**
 * Delivery modes of a message, the least urgent first. `boundary`: before the next request. `preempt`: calls of the current answer that
 * were not started are skipped. `interrupt`: the running model call is aborted too; its partial text is kept.
 */
export const STEER_MODES = ['boundary', 'preempt', 'interrupt'] as const;
