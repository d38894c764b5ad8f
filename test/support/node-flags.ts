/**
 * Flags of Node for the processes of tests. They live for seconds, most of which they load modules: code that is optimised in the background
 * takes a fifth of their CPU time and never pays.
 */
export const NODE_FLAGS = ['--no-opt'] as const;
