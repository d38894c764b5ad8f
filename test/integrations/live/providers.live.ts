import type { ModelFacts } from '../../../src/define/model-options.js';
import { modelFacts } from '../../../src/models/model-facts.js';
import { nearestOrder } from '../../../src/models/thinking-request.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { knownProvider } from '../../../src/providers/access/known-providers.js';
import { createProviderFor } from '../../../src/providers/access/provider-for.js';
import type { ModelProvider } from '../../../src/providers/contract/provider.js';
import type { ProviderSubject } from '../../providers/suite/provider-subject.js';
import { type RealFixture, realModelSuite } from '../../providers/suite/provider-suite.js';
import { type KeyedProvider, keyedProviders } from './keyed-providers.js';

/** The servers of these companies' own APIs give each request an id. */
const WITH_REQUEST_IDS: ReadonlySet<string> = new Set(['openai', 'openai-responses', 'anthropic']);

// the keys are taken out of the environment: who has one is to be seen before
const { keyed } = keyedProviders(process.env);
const keys = captureKeys(process.env);
const providerFor = createProviderFor({ config: {}, env: process.env, keys });

for (const provider of keyed) {
  const facts = modelFacts(`${provider.name}/${provider.model}`);
  realModelSuite(`${provider.name}/${provider.model}`, {
    start: () => Promise.resolve(subjectOf(provider, facts)),
    leftOut: leftOutOf(provider, facts),
  });
}

function subjectOf({ name, model }: KeyedProvider, facts: ModelFacts): ProviderSubject {
  const { provider } = providerFor(`${name}/${model}`);
  // some models must be told not to think before they take tools
  const unasked = nearestOrder(undefined, facts);
  const told: ModelProvider = { call: (request) => provider.call(unasked ? { thinking: unasked, ...request } : request) };
  const thinking = nearestOrder('low', facts);
  return { model, provider: () => told, ...(thinking ? { thinking } : {}) };
}

function leftOutOf({ name }: KeyedProvider, facts: ModelFacts): NonNullable<RealFixture['leftOut']> {
  return {
    ...(facts.images === false ? { images: 'the model takes no pictures' } : {}),
    ...(facts.thinkingStyle === 'none' ? { thinking: 'the model does not think' } : {}),
    ...(knownProvider(name)?.api === 'openai-chat' ? { thinking: 'chat completions need not show what a model thinks' } : {}),
    ...(WITH_REQUEST_IDS.has(name) ? {} : { 'request id': 'a compatible server need not give one' }),
  };
}
