import { z } from 'zod';
import { MODEL_LIMITS } from '../contracts/constants/limits.js';
import { ModelPrice, ThinkingLevel, ThinkingSetting } from '../contracts/schemas/model.js';
import { ModelTimes } from '../contracts/schemas/model-route.js';

/** How a model is told to think. `effort`: by level; `budget`: by tokens; `adaptive`: it decides, within a level; `none`: it cannot. */
const ThinkingStyle = z.enum(['effort', 'budget', 'adaptive', 'none']);

/** What is known of a model. A field that is absent is not known. */
export const ModelFacts = z.strictObject({
  price: ModelPrice.optional(),
  contextWindow: z.number().int().min(MODEL_LIMITS.contextWindowMin).optional(),
  /** The longest answer it can give, in tokens. */
  outputTokensMax: z.number().int().min(MODEL_LIMITS.outputTokensMin).optional(),
  thinkingStyle: ThinkingStyle.optional(),
  /** The levels it takes. */
  thinkingLevels: z.array(ThinkingLevel).optional(),
  tools: z.boolean().optional(),
  images: z.boolean().optional(),
});
export type ModelFacts = z.infer<typeof ModelFacts>;

/** One model of the config: facts in place of the data file's, and how it is asked. */
export const ModelOptions = z.strictObject({ ...ModelFacts.shape, thinking: ThinkingSetting.optional(), times: ModelTimes.optional() });
export type ModelOptions = z.infer<typeof ModelOptions>;
