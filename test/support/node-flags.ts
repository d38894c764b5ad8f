/**
 * Flags of Node for the processes of tests. They live for seconds, most of which they load modules: optimising code early takes CPU time
 * that never pays. Hot code is optimised all the same: workflow code that hashes megabytes takes many seconds of CPU time otherwise.
 */
export const NODE_FLAGS = ['--interrupt-budget=400000'] as const;
