import { z } from 'zod';
import { MODEL_LIMITS, RUN_LIMITS } from '../contracts/limits.js';
import { ModelPrice } from '../contracts/model.js';
import { ArtifactsDefinition } from './artifacts-definition.js';
import type { CustomCompactor } from './custom-compactor.js';
import { AgentDefinition } from './define-agent.js';
import { HookDefinition } from './define-hook.js';
import { type AnyToolDefinition, isToolDefinition } from './define-tool.js';
import { KeyReference } from './key-reference.js';

/** A server that speaks a known wire format. */
export const ProviderDefinition = z.strictObject({
  api: z.enum(['openai-chat', 'anthropic']),
  baseUrl: z.string(),
  credentials: z.union([KeyReference, z.array(KeyReference).min(1)]).optional(),
  /** Plain http to another machine sends prompts and key in the clear: it must be asked for. @default false */
  allowInsecure: z.boolean().optional(),
  quirks: z.strictObject({ strictTerminal: z.boolean().optional() }).optional(),
});
export type ProviderDefinition = z.infer<typeof ProviderDefinition>;

const Tool = z.custom<AnyToolDefinition>(isToolDefinition, 'a tool made with defineTool({ … })');

const Compactor = z.custom<CustomCompactor>(
  (value) => typeof value === 'function',
  'a function ({ messages, tokensMax, runId }) => messages',
);

/** The whole configuration. Strict: an unknown field is a mistake that is told, never ignored. */
export const Config = z.strictObject({
  model: z.string().optional(),
  tools: z.array(Tool).optional(),
  /** Asked around runs, model calls and tool calls. */
  hooks: z.array(HookDefinition).optional(),
  agents: z.record(z.string(), AgentDefinition).optional(),
  providers: z.record(z.string(), ProviderDefinition).optional(),
  credentials: z.record(z.string(), z.array(KeyReference).min(1)).optional(),
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
