import { z } from 'zod';
import { HOSTING_LIMITS } from '../../contracts/constants/limits.js';

/**
 * A heartbeat timeout in milliseconds: 10 s to an hour.
 *
 * A short one finds a lost host or network soon. A long one survives an outage of the server and a suspended machine: until it is
 * over, a call that still runs keeps its result.
 */
export const HeartbeatTimeoutMs = z.number().int().min(HOSTING_LIMITS.heartbeatTimeoutMsMin).max(HOSTING_LIMITS.heartbeatTimeoutMsMax);
export type HeartbeatTimeoutMs = z.infer<typeof HeartbeatTimeoutMs>;
