import type { ModelRef } from '../contracts/models/model-ref.js';
import { keyReferences } from '../providers/access/key-references.js';
import { KNOWN_PROVIDERS, knownProvider } from '../providers/access/known-providers.js';
import { listModels } from '../providers/access/list-models.js';
import { providerAccess } from '../providers/access/provider-access.js';
import type { AccessOptions } from '../providers/contract/access-options.js';
import { type FactsConfig, modelFacts } from './model-facts.js';

/** The inputs of a search for a bare id. */
export interface BareModelOptions extends AccessOptions {
  readonly config: AccessOptions['config'] & FactsConfig;
  /** Aborts the search. */
  readonly signal?: AbortSignal;
}

/** The model as `provider/model`, with a notice for each provider that could not be searched; or the problem when no provider has it. */
export type FoundModel = { readonly model: string; readonly notices: readonly string[] } | { readonly problem: string };

/**
 * The providers to search for a bare id, in order: the environment's, those of the config, then known ones with a key or an address of
 * their own. The fallback key LLM_API_KEY is sent only to providers that you configured.
 */
export function providersToAsk({ config, env, keys }: AccessOptions): readonly string[] {
  const { PERDURE_MODEL_PROVIDER: first } = env;
  const known = Object.entries(KNOWN_PROVIDERS).flatMap(([name, { api, baseUrlVariable }]) => {
    const hasAddress = baseUrlVariable !== undefined && Boolean(env[baseUrlVariable]?.trim());
    const hasKey = keyReferences(name, { config, keys }).some((reference) => keys.resolve(reference) !== undefined);
    return api !== 'scripted' && (hasAddress || hasKey) ? [name] : [];
  });
  return [...new Set([...(first ? [first] : []), ...Object.keys(config.providers ?? {}), ...known])];
}

/**
 * Finds the first provider with a model of this id: by the known facts of its models, else by the list that its server returns. Never
 * throws, except the reason of an aborted signal.
 */
export async function findBareModel(id: string, options: BareModelOptions): Promise<FoundModel> {
  const notSearched: string[] = [];
  const searched: string[] = [];
  for (const provider of providersToAsk(options)) {
    const answer = await searchProvider({ provider, model: id }, options);
    if (answer === 'has') return { model: `${provider}/${id}`, notices: notSearched.map((notice) => `model ${id}: ${notice}`) };
    searched.push(answer === 'has not' ? provider : `${provider} (${answer.problem})`);
    if (answer !== 'has not') notSearched.push(`${provider} could not be searched: ${answer.problem}`);
  }
  const shown = JSON.stringify(id.slice(0, 80));
  if (searched.length === 0) return { problem: `model ${shown}: no configured provider to search. Use provider/model, or set a key.` };
  return { problem: `model ${shown} was not found (searched: ${searched.join(', ')}). Use provider/model to skip the search.` };
}

type Answer = 'has' | 'has not' | { readonly problem: string };

async function searchProvider(ref: ModelRef, options: BareModelOptions): Promise<Answer> {
  const name = `${ref.provider}/${ref.model}`;
  const access = providerAccess(ref, options);
  if (access.kind === 'refused') return { problem: access.problem };
  if (isListed(name, options)) return 'has';
  if (access.kind !== 'server') return 'has not';
  try {
    const ids = await listModels(access, options.signal);
    // servers of local models accept a name without its tag for the latest version
    return ids.some((id) => id === ref.model || id === `${ref.model}:latest`) ? 'has' : 'has not';
  } catch (error) {
    options.signal?.throwIfAborted();
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** True for facts of this very model: a price of zero holds for any name of a local provider. */
function isListed(name: string, { config }: BareModelOptions): boolean {
  const { contextWindow, price, ...others } = modelFacts(name, config);
  const isLocal = knownProvider(name.slice(0, name.indexOf('/')))?.local === true;
  return contextWindow !== undefined || (price !== undefined && !isLocal) || Object.keys(others).length > 0;
}
