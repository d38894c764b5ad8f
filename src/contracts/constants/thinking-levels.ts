/** Levels of thinking, in ascending order. */
export const THINKING_LEVELS = ['off', 'minimal', 'low', 'medium', 'high'] as const;
