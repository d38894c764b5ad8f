/** What happens to a message that reaches a session while a run is active. */
export const QUEUE_MODES = ['followup', 'steer', 'collect', 'interrupt'] as const;

/** Which message is dropped when the queue of a session is full. */
export const DROP_POLICIES = ['new', 'old', 'summarize'] as const;
