import { z } from 'zod';
import { ModelPrice } from './model.js';
import { ModelCandidate } from './model-route.js';
import { RunPolicy } from './policy.js';
import { ToolDescriptor } from './tool.js';

/** What stays the same for a whole run: captured once, read back through query `setup`. */
export const RunSetup = z.strictObject({ agent: z.string(), prompt: z.string(), tools: z.array(ToolDescriptor) });
export type RunSetup = z.infer<typeof RunSetup>;

/** The answer of `prepareRun`: what was chosen for this run, so that editing the config never changes a run in flight. */
export const PreparedRun = z.strictObject({
  setup: RunSetup,
  setupHash: z.string(),
  configHash: z.string(),
  model: z.string(),
  maxTurns: z.number(),
  /** The caps there are: the input's, else the agent's. */
  maxTokens: z.number().int().optional(),
  maxCostUsd: z.number().optional(),
  deadlineMs: z.number().int().optional(),
  price: ModelPrice.optional(),
  /** The model has no known price, and the run was told to start all the same: its money cap is not kept. */
  priceUnknown: z.boolean().optional(),
  contextWindow: z.number(),
  /** The models that may be asked, the first one first. Absent in runs of older versions: `model` alone. */
  route: z.array(ModelCandidate).min(1).optional(),
  /** Of the model that writes summaries, where the policy names one. */
  summaryPrice: ModelPrice.optional(),
  /** What a provider keeps of a prompt is found again by this name: the same for all runs of a session. */
  cacheKey: z.string().optional(),
  /** What was not as asked for, and an operator should know: a fallback that was left out, a level of thinking that was mapped. */
  notices: z.array(z.string()).optional(),
  /** Absent in runs that 0.1 prepared: they go on as they began. */
  policy: RunPolicy.optional(),
  /** The queue of the host that has the workspace; absent: the run's own queue. */
  toolQueue: z.string().optional(),
  /** Search attributes the server knows; only these may be written (an unknown one fails the workflow task for ever). */
  searchAttributes: z.array(z.string()),
});
export type PreparedRun = z.infer<typeof PreparedRun>;
