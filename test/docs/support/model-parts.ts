import { formatPrice, formatThinking, formatTokens } from '../../../src/cli/display/model-columns.js';
import { ModelPrice } from '../../../src/contracts/schemas/model.js';
import { ModelTimes } from '../../../src/contracts/schemas/model-route.js';
import { type ModelFacts, ModelOptions } from '../../../src/define/model-options.js';
import { AiSdkProvider, BedrockProvider, CustomProvider, HttpProvider, VertexProvider } from '../../../src/define/provider-definition.js';
import { ProviderQuirks } from '../../../src/define/provider-quirks.js';
import { KNOWN_MODELS, MODELS_AS_OF } from '../../../src/models/catalog/models.js';
import { KNOWN_PROVIDERS, type KnownProvider } from '../../../src/providers/access/provider-catalog.js';
import { quirkProblems } from '../../../src/worker/config/checks/check-quirks.js';
import { DocComments } from './doc-comments.js';
import { interfaceTable, schemaTable } from './field-table.js';
import { codeOf, markdownTable } from './markdown.js';
import { SCHEMA_NAMES } from './schema-names.js';
import { schemaType } from './schema-type.js';

const PROVIDER = new DocComments('define/provider-definition.ts');
const MODEL_PROVIDER = new DocComments('define/provider/model-provider.ts');
const OPTIONS = new DocComments('define/model-options.ts');
const names = SCHEMA_NAMES;

/** The generated parts of the pages about providers and models. */
export const MODEL_PARTS: Readonly<Record<string, () => string>> = {
  providers: () => providerTable(),
  'http-provider': () => schemaTable(HttpProvider, { docs: PROVIDER, declarations: ['HttpProvider'] }, { names }),
  'bedrock-provider': () => schemaTable(BedrockProvider, { docs: PROVIDER, declarations: ['BedrockProvider'] }, { names }),
  'vertex-provider': () => schemaTable(VertexProvider, { docs: PROVIDER, declarations: ['VertexProvider'] }, { names }),
  'ai-sdk-provider': () => schemaTable(AiSdkProvider, { docs: PROVIDER, declarations: ['AiSdkProvider'] }, { names }),
  'custom-provider': () => schemaTable(CustomProvider, { docs: PROVIDER, declarations: ['CustomProvider'] }, { names }),
  'provider-server': () => interfaceTable(new DocComments('define/provider/wire-format.ts'), 'ProviderServer', { hasDefaults: false }),
  'model-request': () => interfaceTable(MODEL_PROVIDER, 'ModelRequest', { hasDefaults: false }),
  'model-answer': () => interfaceTable(MODEL_PROVIDER, 'ModelAnswer', { hasDefaults: false }),
  quirks: () => quirkTable(),
  'model-options': () => schemaTable(ModelOptions, { docs: OPTIONS, declarations: ['ModelOptions', 'ModelFacts'] }, { names }),
  'model-times': () =>
    schemaTable(ModelTimes, { docs: new DocComments('contracts/schemas/model-route.ts'), declarations: ['ModelTimes'] }, { names }),
  'model-price': () =>
    schemaTable(
      ModelPrice,
      { docs: new DocComments('contracts/schemas/model.ts'), declarations: ['ModelPrice', 'Rates'] },
      { names, types: LONG_PROMPT },
    ),
  models: () => modelTable(),
};

/** The prices of a long prompt have the fields of all prices. */
const LONG_PROMPT = { longPrompt: '`{ aboveTokens, … }`' };

function providerTable(): string {
  const rows = Object.entries(KNOWN_PROVIDERS).map(([name, provider]) => [
    `\`${name}\``,
    codeOf(provider.api) ?? '',
    codeOf(provider.keyVariable) ?? 'none',
    codeOf(provider.baseUrlVariable) ?? '·',
    addressOf(provider),
    codeOf(provider.defaultModel) ?? '·',
    quirksOf(provider),
  ]);
  return markdownTable(['provider', 'api', 'key', 'address variable', 'default address', 'default model', 'quirks'], rows);
}

function addressOf({ baseUrl, path }: KnownProvider): string {
  return [baseUrl === '' ? undefined : baseUrl, path === undefined ? undefined : `(\`${path}\`)`].filter(Boolean).join(' ') || '·';
}

function quirksOf({ quirks = {} }: KnownProvider): string {
  return (
    Object.entries(quirks)
      .map(([name, value]) => `\`${name}: ${JSON.stringify(value)}\``)
      .join(', ') || '·'
  );
}

/** Each quirk, with the wire formats in which the config accepts it. */
function quirkTable(): string {
  const docs = new DocComments('define/provider-quirks.ts');
  const rows = Object.entries(ProviderQuirks.shape).map(([name, field]) => {
    const { text, defaultText = 'none' } = docs.ofField(['ProviderQuirks'], name);
    return [`\`${name}\``, schemaType(field, name, names), defaultText, formatsOf(name), text];
  });
  return markdownTable(['quirk', 'type', 'default', 'formats', 'meaning'], rows);
}

function formatsOf(quirk: string): string {
  const isAccepted = (api: HttpProvider['api']): boolean => quirkProblems('', { api, quirks: { [quirk]: {} } }).length === 0;
  const { options } = HttpProvider.shape.api;
  const accepted = options.filter(isAccepted);
  return accepted.length === options.length ? 'all' : accepted.map((api) => api.replace(/^openai-/u, '')).join(', ');
}

function modelTable(): string {
  const models = Object.entries(KNOWN_MODELS).filter(([provider]) => provider !== 'openai');
  const rows = models.flatMap(([provider, known]) => Object.entries(known).map(([name, facts]) => modelRow(`${provider}/${name}`, facts)));
  const head = ['model', 'window', 'output', 'price', 'cache', 'long prompt', 'thinking', 'tools', 'images'];
  return `As of ${MODELS_AS_OF}.\n\n${markdownTable(head, rows)}`;
}

function modelRow(name: string, facts: ModelFacts): string[] {
  const { price, contextWindow, outputTokensMax, tools, images } = facts;
  const long = price?.longPrompt;
  return [
    `\`${name}\``,
    formatTokens(contextWindow),
    formatTokens(outputTokensMax),
    formatPrice(facts).replace('*', ''),
    price ? cachePrices(price) : '?',
    long ? `${formatTokens(long.aboveTokens)}: ${formatPrice({ price: long })}, ${cachePrices(long)}` : '·',
    formatThinking(facts),
    yesOrNo(tools),
    yesOrNo(images),
  ];
}

function cachePrices({ cacheRead, cacheWrite }: Pick<ModelPrice, 'cacheRead' | 'cacheWrite'>): string {
  return [cacheRead, cacheWrite].map((usd) => (usd === undefined ? '·' : `$${usd}`)).join(' / ');
}

function yesOrNo(ability: boolean | undefined): string {
  if (ability === undefined) return '?';
  return ability ? 'yes' : 'no';
}
