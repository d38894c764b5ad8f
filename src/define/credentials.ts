import { z } from 'zod';
import { FAILOVER_LIMITS } from '../contracts/constants/limits.js';

/**
 * A key by reference: the name of an environment variable, or the absolute path of a file that only its owner may open (mode 0600) and
 * that lies in no workspace. It is read in the activity at call time. Values never stand in a config.
 */
export const KeyReference = z
  .string()
  .regex(/^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:\/.+)$/u, 'a reference like "env:OPENAI_API_KEY" or "file:/run/secrets/openai"');

/** The keys of a provider, by reference: one, or several that are used in turn when one is limited or refused. */
export const Credentials = z.union([KeyReference, z.array(KeyReference).min(1).max(FAILOVER_LIMITS.credentialsMax)]);
export type Credentials = z.infer<typeof Credentials>;
