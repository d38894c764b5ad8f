import { describe, expect, it } from 'vitest';
import { tenantRules } from '../../../src/activities/limits/tenant-limits.js';
import { checkConfig } from '../../../src/worker/config/check-config.js';
import { providerRules } from '../../../src/worker/hosting/ask-provider-ledger.js';

describe('limits of tenants and providers in a config', () => {
  it.each([
    [{ tenants: { limits: { acme: {} } } }, 'tenants.limits.acme: set maxRuns, maxCostUsdPerDay, or both'],
    [{ tenants: { limits: { acme: { maxRun: 1 } } } }, 'tenants.limits.acme.maxRun: unknown (did you mean maxRuns?)'],
    [{ tenants: { limit: {} } }, 'tenants.limit: unknown (did you mean limits?)'],
    [{ tenants: { limits: { acme: { maxRuns: 0 } } } }, 'tenants.limits.acme.maxRuns: '],
    [{ tenants: { limits: { acme: { maxCostUsdPerDay: 0 } } } }, 'tenants.limits.acme.maxCostUsdPerDay: '],
    [{ tenants: { limits: { acme: { maxCostUsdPerDay: Infinity } } } }, 'tenants.limits.acme.maxCostUsdPerDay: '],
    [{ limits: { providers: { openai: {} } } }, 'limits.providers.openai: set callsAtOnce, callsPerMinute, or both'],
    [{ limits: { providers: { openai: { callAtOnce: 1 } } } }, 'limits.providers.openai.callAtOnce: unknown (did you mean callsAtOnce?)'],
    [{ limits: { providers: { opnai: { callsAtOnce: 1 } } } }, 'limits.providers.opnai: unknown provider "opnai" (did you mean openai?)'],
    [{ limits: { providers: { subprocess: { callsAtOnce: 1 } } } }, 'limits.providers.subprocess: it is an executor'],
    [{ limits: { providers: { openai: { callsPerMinute: 1.5 } } } }, 'limits.providers.openai.callsPerMinute: '],
  ])('%j is refused with its path', (config, problem) => {
    const checked = checkConfig(config, []);
    expect('problems' in checked ? checked.problems.join('\n') : 'no problem').toContain(problem);
  });

  it('a tenant has its own fields, else those of default; a run without a tenant has no limits', () => {
    const { limitsOf } = tenantRules({ tenants: { limits: { default: { maxRuns: 2, maxCostUsdPerDay: 5 }, acme: { maxRuns: 20 } } } });
    expect(limitsOf('acme')).toEqual({ maxRuns: 20, maxCostUsdPerDay: 5 });
    expect(limitsOf('other')).toEqual({ maxRuns: 2, maxCostUsdPerDay: 5 });
    expect(limitsOf('constructor')).toEqual({ maxRuns: 2, maxCostUsdPerDay: 5 });
    expect(limitsOf('')).toBeUndefined();
    expect(tenantRules({}).limitsOf('acme')).toBeUndefined();
    expect(tenantRules({ tenants: { limits: { acme: { maxRuns: 1 } } } }).limitsOf('other')).toBeUndefined();
  });

  it('a provider has the limits of its name alone', () => {
    const { providers } = providerRules({ limits: { providers: { openai: { callsAtOnce: 3 } } } });
    expect(providers?.limitsOf('openai')).toEqual({ callsAtOnce: 3 });
    expect(providers?.limitsOf('toString')).toBeUndefined();
    expect(providerRules({ limits: { maxTurns: 3 } })).toEqual({});
  });
});
