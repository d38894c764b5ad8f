import type { ModelFacts } from '../../define/model-options.js';
import { ANTHROPIC_MODELS } from './anthropic.js';
import { DEEPSEEK_MODELS } from './deepseek.js';
import { GEMINI_MODELS } from './gemini.js';
import { MISTRAL_MODELS } from './mistral.js';
import { GROQ_MODELS, TOGETHER_MODELS } from './open-models.js';
import { OPENAI_CHAT_MODELS, OPENAI_MODELS } from './openai.js';
import { XAI_MODELS } from './xai.js';

/**
 * When the models were last compared with the pages that each file names, and with the model list of LiteLLM 1.109 (MIT). The config's
 * `models`, `prices` and `contextWindows` go before all of it.
 */
export const MODELS_AS_OF = '2026-11-21';

/**
 * What is known of models, by provider and name there: USD per million tokens at the usual pace, and what they can do. Models that are no
 * longer served are left out. A field that is absent is not known.
 */
export const KNOWN_MODELS: Readonly<Record<string, Readonly<Record<string, ModelFacts>>>> = {
  openai: OPENAI_CHAT_MODELS,
  'openai-responses': OPENAI_MODELS,
  anthropic: ANTHROPIC_MODELS,
  gemini: GEMINI_MODELS,
  mistral: MISTRAL_MODELS,
  deepseek: DEEPSEEK_MODELS,
  xai: XAI_MODELS,
  groq: GROQ_MODELS,
  together: TOGETHER_MODELS,
};
