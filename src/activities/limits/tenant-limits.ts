import type { LedgerBounds, TenantLimits } from '../../contracts/schemas/ledger.js';
import type { Config } from '../../define/define-config.js';

/** The limits of tenants, as the config of a worker has them. */
export interface TenantRules {
  /** The limits of a tenant; undefined without any. */
  readonly limitsOf: (tenant: string) => TenantLimits | undefined;
  /** Times that tests shorten. */
  readonly bounds?: LedgerBounds;
}

/** Reads the limits of tenants from a config. A tenant's own fields come first, then those of `default`. */
export function tenantRules({ tenants }: Pick<Config, 'tenants'>): TenantRules {
  const limits = tenants?.limits ?? {};
  return {
    limitsOf: (tenant) => {
      const own = Object.hasOwn(limits, tenant) ? limits[tenant] : undefined;
      const all = { ...limits['default'], ...own };
      return tenant === '' || Object.keys(all).length === 0 ? undefined : given(all);
    },
  };
}

function given({ maxRuns, maxCostUsdPerDay }: NonNullable<NonNullable<Config['tenants']>['limits'][string]>): TenantLimits {
  return {
    ...(maxRuns === undefined ? {} : { maxRuns }),
    ...(maxCostUsdPerDay === undefined ? {} : { maxCostUsdPerDay }),
  };
}
