import { z } from 'zod';
import { FAILOVER_LIMITS } from '../../contracts/constants/limits.js';

/**
 * A key by reference: `env:NAME` for an environment variable, `file:/PATH` for a file that only its owner can read (mode 0600) and that
 * is outside of every workspace. The activity reads it at each call. A config never contains the value of a key.
 */
export const KeyReference = z
  .string()
  .regex(/^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:\/.+)$/u, 'a reference like "env:OPENAI_API_KEY" or "file:/run/secrets/openai"');

/** Keys of a provider by reference: one, or several that are used in turn when one is rate limited or refused. */
export const Credentials = z.union([KeyReference, z.array(KeyReference).min(1).max(FAILOVER_LIMITS.credentialsMax)]);
export type Credentials = z.infer<typeof Credentials>;
