import { z } from 'zod';
import { FAILOVER_LIMITS, MODEL_LIMITS, RUN_LIMITS } from '../contracts/constants/limits.js';
import { ModelPrice, ThinkingSetting } from '../contracts/schemas/model.js';
import { ArtifactsDefinition } from './artifacts.js';
import type { CustomCompactor } from './compactor.js';
import { Credentials } from './credentials.js';
import { AgentDefinition } from './define-agent.js';
import { HookDefinition } from './define-hook.js';
import { type AnyToolDefinition, isToolDefinition } from './define-tool.js';
import { ModelOptions } from './model-options.js';
import { ProviderDefinition } from './provider-definition.js';

const Tool = z.custom<AnyToolDefinition>(isToolDefinition, 'a tool made with defineTool({ … })');

const Compactor = z.custom<CustomCompactor>(
  (value) => typeof value === 'function',
  'a function ({ messages, tokensMax, runId }) => messages',
);

/** The whole configuration. Strict: an unknown field is a mistake that is told, never ignored. */
export const Config = z.strictObject({
  /** `provider/model`, or a bare id. */
  model: z.string().optional(),
  /** Models to ask when the first one fails, in this order. @default none: a failing model fails the run */
  fallbacks: z.array(z.string()).max(FAILOVER_LIMITS.fallbacksMax).optional(),
  /** `strict`: a model that cannot be called is an error. `first-available`: the first one that can be called is taken. @default strict */
  resolve: z.enum(['strict', 'first-available']).optional(),
  /** How much models are to think. @default what each does by itself */
  thinking: ThinkingSetting.optional(),
  /** Facts and options of models, by `provider/model`; they replace those of the data file. */
  models: z.record(z.string(), ModelOptions).optional(),
  tools: z.array(Tool).optional(),
  /** Asked around runs, model calls and tool calls. */
  hooks: z.array(HookDefinition).optional(),
  agents: z.record(z.string(), AgentDefinition).optional(),
  providers: z.record(z.string(), ProviderDefinition).optional(),
  /** Keys of known providers, in place of their variables. */
  credentials: z.record(z.string(), Credentials).optional(),
  prices: z.record(z.string(), ModelPrice).optional(),
  /** Tokens that a model can read, by `provider/model`: for models we do not know, or served with a smaller window. */
  contextWindows: z.record(z.string(), z.number().int().min(MODEL_LIMITS.contextWindowMin)).optional(),
  /** Where large outputs are kept. @default files of the state folder */
  artifacts: ArtifactsDefinition.optional(),
  /** Makes old messages shorter, for the compaction strategy `custom`. */
  compactor: Compactor.optional(),
  limits: z
    .strictObject({
      maxTurns: z.number().int().min(RUN_LIMITS.maxTurnsMin).max(RUN_LIMITS.maxTurnsMax).optional(),
      /** @default 90 s */
      modelIdleMs: z.number().int().min(1_000).max(MODEL_LIMITS.turnTimeoutMs).optional(),
    })
    .optional(),
});
export type Config = z.infer<typeof Config>;

/** Types a configuration; `perdure` checks it when it loads the file, and tells all problems at once. */
export function defineConfig(config: Config): Config {
  return config;
}
