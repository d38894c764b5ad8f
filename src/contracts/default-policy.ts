import { RunPolicy } from './schemas/policy.js';

/** The policy of a run whose agent says nothing. For workers and tools: a workflow is given its policy. */
export const DEFAULT_POLICY: RunPolicy = RunPolicy.parse({});
