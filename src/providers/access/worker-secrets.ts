import type { KnownSecret } from '../../contracts/text/secret-forms.js';
import { SecretMask } from '../../contracts/text/secret-mask.js';
import type { AccessOptions } from '../contract/access-options.js';

/** Credentials of the worker itself that stay in its environment, because SDKs read them there. */
const WORKER_VARIABLES = ['TEMPORAL_API_KEY', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];

/**
 * Makes the mask for all secrets of a worker: the keys of providers, stores and executors that its config names, the known variables of
 * providers, and the worker's own credentials. A key that is added or rotated later is masked too. Values under 8 characters are not.
 */
export function workerSecrets({ keys, env }: Pick<AccessOptions, 'keys' | 'env'>): SecretMask {
  const own = WORKER_VARIABLES.flatMap((name): KnownSecret[] => (env[name] ? [{ name: `env:${name}`, value: env[name].trim() }] : []));
  let held: readonly KnownSecret[] | undefined;
  let all: readonly KnownSecret[] = [];
  return new SecretMask(() => {
    const now = keys.held();
    if (now !== held) all = [...now, ...own];
    held = now;
    return all;
  });
}
