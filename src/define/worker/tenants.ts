import { z } from 'zod';
import { INPUT_LIMITS, PROVIDER_LIMITS, TENANT_LIMITS } from '../../contracts/constants/limits.js';

/** Limits of one tenant, over all its runs on a task queue. */
export const TenantLimitsDefinition = z
  .strictObject({
    /** Runs at once. Further runs wait in the order of their starts. A run counts until it ends, also while it is paused. @default no limit */
    maxRuns: z.number().int().min(1).max(TENANT_LIMITS.runsMax).optional(),
    /** Cost in USD of one day, in UTC. Runs wait for the next day when it is spent. Models need known prices. @default no limit */
    maxCostUsdPerDay: z.number().positive().finite().optional(),
  })
  .refine((limits) => Object.values(limits).some((limit) => limit !== undefined), {
    error: 'set maxRuns, maxCostUsdPerDay, or both',
  });

/** Limits of tenants. */
export const TenantsDefinition = z.strictObject({
  /** Limits by the name of the tenant. `default` is for all tenants, field by field. Runs without a tenant have no limits. */
  limits: z.record(z.string().min(1).max(INPUT_LIMITS.nameCharsMax), TenantLimitsDefinition),
});

/** Limits of the model calls of one provider. */
export const ProviderLimitsDefinition = z
  .strictObject({
    /** Calls at once. Further calls wait. @default no limit */
    callsAtOnce: z.number().int().min(1).max(PROVIDER_LIMITS.callsAtOnceMax).optional(),
    /** Calls that begin within any minute. @default no limit */
    callsPerMinute: z.number().int().min(1).max(PROVIDER_LIMITS.callsPerMinuteMax).optional(),
  })
  .refine((limits) => Object.values(limits).some((limit) => limit !== undefined), {
    error: 'set callsAtOnce, callsPerMinute, or both',
  });
