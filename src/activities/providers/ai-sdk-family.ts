import type { JsonValue } from '../../contracts/message.js';
import type { ThinkingOrder } from './provider.js';

type Options = Readonly<Record<string, JsonValue>>;

/** What is known of the models of one SDK provider beyond the specification, which has no word for it. */
export interface AiSdkFamily {
  /** The name of its options and metadata. */
  readonly name: string;
  /** How it is told to think. Empty: it is not told. */
  thinking(order: ThinkingOrder): Options;
  /** Its option for `cacheKey`. */
  readonly cacheKeyOption?: string;
  /** Its option for the end of what the server may keep. */
  readonly cacheMark?: Options;
  /** Options that are sent unless a config says otherwise. */
  readonly defaults?: Options;
  /** A tool's result may hold images; without this they are named in it. */
  readonly showsResultImages?: true;
  /** It takes no forced call from a model that thinks. */
  readonly thinksUnforced?: true;
  /** The exact length of a call's id. @default any up to 40 */
  readonly callIdChars?: number;
}

/**
 * The family of a model, by the name that its SDK provider gives itself, such as `anthropic.messages` or `google.vertex.chat`. A provider
 * that is not known here has no thinking and no cache key of its own words: its options are the config's affair.
 */
export function aiSdkFamily(provider: string): AiSdkFamily {
  return FAMILIES.find(([pattern]) => pattern.test(provider))?.[1] ?? { name: provider.split('.')[0] ?? provider, thinking: () => ({}) };
}

const OPENAI: AiSdkFamily = { name: 'openai', thinking: openAiThinking, cacheKeyOption: 'promptCacheKey' };

/** What a server keeps of a run is no place to continue it from: thinking comes and goes encrypted instead. */
const OPENAI_RESPONSES: AiSdkFamily = { ...OPENAI, defaults: { store: false }, showsResultImages: true };

const ANTHROPIC: AiSdkFamily = {
  name: 'anthropic',
  thinking: anthropicThinking,
  cacheMark: { cacheControl: { type: 'ephemeral' } },
  showsResultImages: true,
  thinksUnforced: true,
};

const GOOGLE: AiSdkFamily = { name: 'google', thinking: googleThinking, showsResultImages: true };

const MISTRAL: AiSdkFamily = { name: 'mistral', thinking: () => ({}), callIdChars: 9 };

/** The first that matches: Anthropic's models of other clouds speak as Anthropic's own. */
const FAMILIES: readonly (readonly [RegExp, AiSdkFamily])[] = [
  [/(^|\.)anthropic(\.|$)/u, ANTHROPIC],
  [/^(openai|azure[\w-]*)\.responses$/u, OPENAI_RESPONSES],
  [/^(openai|azure[\w-]*)\./u, OPENAI],
  [/^(google|vertex)/iu, GOOGLE],
  [/^mistral\./u, MISTRAL],
];

function openAiThinking(order: ThinkingOrder): Options {
  switch (order.style) {
    case 'off':
      return { reasoningEffort: 'none' };
    case 'effort':
    case 'adaptive':
      return { reasoningEffort: order.effort };
    case 'budget':
      return {};
  }
}

function anthropicThinking(order: ThinkingOrder): Options {
  switch (order.style) {
    case 'off':
      return { thinking: { type: 'disabled' } };
    case 'effort':
      return { effort: anthropicEffort(order.effort) };
    case 'adaptive':
      return { thinking: { type: 'adaptive' }, effort: anthropicEffort(order.effort) };
    case 'budget':
      return { thinking: { type: 'enabled', budgetTokens: order.tokens } };
  }
}

/** Its efforts begin with `low`. */
function anthropicEffort(effort: string): string {
  return effort === 'minimal' ? 'low' : effort;
}

function googleThinking(order: ThinkingOrder): Options {
  switch (order.style) {
    case 'off':
      return { thinkingConfig: { thinkingBudget: 0 } };
    case 'effort':
    case 'adaptive':
      return { thinkingConfig: { thinkingLevel: order.effort, includeThoughts: true } };
    case 'budget':
      return { thinkingConfig: { thinkingBudget: order.tokens, includeThoughts: true } };
  }
}
