import { z } from 'zod';
import { FAILOVER_LIMITS } from '../contracts/constants/limits.js';
import { KeyReference } from './key-reference.js';

/** The keys of a provider, by reference: one, or several that are used in turn when one is limited or refused. */
export const Credentials = z.union([KeyReference, z.array(KeyReference).min(1).max(FAILOVER_LIMITS.credentialsMax)]);
export type Credentials = z.infer<typeof Credentials>;
