import { z } from 'zod';
import { MODEL_LIMITS } from '../contracts/constants/limits.js';
import { ModelPrice, ThinkingLevel, ThinkingSetting } from '../contracts/schemas/model.js';
import { ModelTimes } from '../contracts/schemas/model-route.js';

/** How thinking is requested. `effort`: by level. `budget`: by tokens. `adaptive`: the model decides, up to a level. `none`: never. */
const ThinkingStyle = z.enum(['effort', 'budget', 'adaptive', 'none']);

/** Facts about a model. An absent field is unknown. */
export const ModelFacts = z.strictObject({
  /** Prices in USD per million tokens. @default the catalog's */
  price: ModelPrice.optional(),
  /** Longest prompt in tokens. @default the catalog's, else 128,000 */
  contextWindow: z.number().int().min(MODEL_LIMITS.contextWindowMin).optional(),
  /** Longest answer in tokens. @default the catalog's */
  outputTokensMax: z.number().int().min(MODEL_LIMITS.outputTokensMin).optional(),
  /** How thinking is requested: by level, by tokens, left to the model up to a level, or not at all. @default the catalog's */
  thinkingStyle: ThinkingStyle.optional(),
  /** Levels that the model supports. @default the catalog's */
  thinkingLevels: z.array(ThinkingLevel).optional(),
  /** False for a model without tool calls. A run that offers tools then starts with a notice. @default the catalog's */
  tools: z.boolean().optional(),
  /** False for a model without images. Images are then replaced by their names. @default the catalog's */
  images: z.boolean().optional(),
});
export type ModelFacts = z.infer<typeof ModelFacts>;

/** Options of one model of the config. Facts override those of the catalog. */
export const ModelOptions = z.strictObject({
  ...ModelFacts.shape,
  /** How much the model thinks, if neither the run nor the agent sets it. @default the config's */
  thinking: ThinkingSetting.optional(),
  /** Timeouts of its calls. */
  times: ModelTimes.optional(),
});
export type ModelOptions = z.infer<typeof ModelOptions>;
