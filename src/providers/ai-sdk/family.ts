import type { JsonValue } from '../../contracts/schemas/message.js';
import { anthropicThinking } from '../anthropic/thinking-config.js';
import type { ThinkingOrder } from '../contract/provider.js';

type Options = Readonly<Record<string, JsonValue>>;

/** How much to think, and what the answer may have in all. */
export interface AiSdkThinkingWish {
  readonly order: ThinkingOrder;
  readonly outputTokensMax: number;
}

/** Thinking in a provider's own words. */
export interface AiSdkThinking {
  readonly options: Options;
  /** What its package adds to the output limit by itself. @default 0 */
  readonly addedTokens?: number;
}

/** What is known of the models of one SDK provider beyond the specification, which has no word for it. */
export interface AiSdkFamily {
  /** The name of its options and metadata. */
  readonly name: string;
  /** How it is told to think. Absent: in the word of version 4 that all providers share, and before that not at all. */
  thinking?(wish: AiSdkThinkingWish): AiSdkThinking;
  /** Its option for `cacheKey`. */
  readonly cacheKeyOption?: string;
  /** Its option for the end of what the server may keep. */
  readonly cacheMark?: Options;
  /** Options that are sent unless a config says otherwise. */
  readonly defaults?: Options;
  /** A tool's result may hold images; without this they are named in it. */
  readonly showsResultImages?: true;
  /** Its models think in blocks: an answer that began without one goes on without, and none that thinks is forced to call. */
  readonly thinksInBlocks?: true;
  /** Up to version 2 its input counts without what came from a cache or went there. */
  readonly countsInputWithoutCache?: true;
  /** Up to version 2 it takes a request without calls for one without tools, which its server refuses after calls. */
  readonly dropsForbiddenTools?: true;
  /** A transcript with calls needs tools beside it. */
  readonly needsCalledTools?: true;
  /** The exact length of a call's id. @default any up to 40 */
  readonly callIdChars?: number;
}

/**
 * The family of a model, by the name that its SDK provider gives itself, such as `anthropic.messages` or `google.vertex.chat`. A provider
 * that is not known here has no words of its own: its options are the config's affair.
 */
export function aiSdkFamily(provider: string): AiSdkFamily {
  return FAMILIES.find(([pattern]) => pattern.test(provider))?.[1] ?? { name: provider.split('.')[0] ?? provider };
}

const OPENAI: AiSdkFamily = { name: 'openai', thinking: openAiThinking, cacheKeyOption: 'promptCacheKey' };

/** What a server keeps of a run is no place to continue it from: thinking comes and goes encrypted instead. */
const OPENAI_RESPONSES: AiSdkFamily = { ...OPENAI, defaults: { store: false }, showsResultImages: true };

const ANTHROPIC: AiSdkFamily = {
  name: 'anthropic',
  thinking: claudeThinking,
  cacheMark: { cacheControl: { type: 'ephemeral' } },
  showsResultImages: true,
  thinksInBlocks: true,
  countsInputWithoutCache: true,
  dropsForbiddenTools: true,
  needsCalledTools: true,
};

const GOOGLE: AiSdkFamily = { name: 'google', thinking: googleThinking, showsResultImages: true };

const MISTRAL: AiSdkFamily = { name: 'mistral', callIdChars: 9 };

/** The first that matches: Anthropic's models of other clouds speak as Anthropic's own. */
const FAMILIES: readonly (readonly [RegExp, AiSdkFamily])[] = [
  [/(^|\.)anthropic(\.|$)/u, ANTHROPIC],
  [/^(openai|azure[\w-]*)\.responses$/u, OPENAI_RESPONSES],
  [/^(openai|azure[\w-]*)\./u, OPENAI],
  [/^(google|vertex)/iu, GOOGLE],
  [/^mistral\./u, MISTRAL],
];

function openAiThinking({ order }: AiSdkThinkingWish): AiSdkThinking {
  switch (order.style) {
    case 'off':
      return { options: { reasoningEffort: 'none' } };
    case 'effort':
    case 'adaptive':
      return { options: { reasoningEffort: order.effort } };
    case 'budget':
      return { options: {} };
  }
}

/** As the messages API itself is told; only that its package adds the budget to the limit. */
function claudeThinking(wish: AiSdkThinkingWish): AiSdkThinking {
  const { thinking, output_config: { effort } = {} } = anthropicThinking(wish, []);
  const effortOption = typeof effort === 'string' ? { effort } : {};
  if (thinking?.type !== 'enabled') return { options: { ...(thinking ? { thinking: { ...thinking } } : {}), ...effortOption } };
  const { budget_tokens: budgetTokens } = thinking;
  return { options: { thinking: { type: 'enabled', budgetTokens } }, addedTokens: budgetTokens };
}

function googleThinking({ order }: AiSdkThinkingWish): AiSdkThinking {
  switch (order.style) {
    case 'off':
      return { options: { thinkingConfig: { thinkingBudget: 0 } } };
    case 'effort':
    case 'adaptive':
      return { options: { thinkingConfig: { thinkingLevel: order.effort, includeThoughts: true } } };
    case 'budget':
      return { options: { thinkingConfig: { thinkingBudget: order.tokens, includeThoughts: true } } };
  }
}
