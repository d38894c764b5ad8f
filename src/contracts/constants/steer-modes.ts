/**
 * When a message is read, from the least urgent. `boundary`: before the next request. `preempt`: calls of the present answer that were
 * not started are skipped for it. `interrupt`: the running model call is aborted too, its partial text kept.
 */
export const STEER_MODES = ['boundary', 'preempt', 'interrupt'] as const;
