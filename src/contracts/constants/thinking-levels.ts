/** The levels of thinking, least first. */
export const THINKING_LEVELS = ['off', 'minimal', 'low', 'medium', 'high'] as const;
