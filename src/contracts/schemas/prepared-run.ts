import type { ModelPrice } from './model.js';
import type { ModelCandidate } from './model-route.js';
import type { RunPolicy } from './policy.js';
import type { ToolDescriptor } from './tool.js';

/** What stays the same for a whole run: captured once, read back through query `setup`. */
export interface RunSetup {
  readonly agent: string;
  readonly prompt: string;
  readonly tools: readonly ToolDescriptor[];
  /** Which part of the prompt given system messages said, in UTF-16 units: a run that goes on is given it again. Absent: there were none. */
  readonly given?: { readonly from: number; readonly to: number };
}

/** The answer of `prepareRun`: what was chosen for this run, so that editing the config never changes a run in flight. */
export interface PreparedRun {
  readonly setup: RunSetup;
  readonly setupHash: string;
  readonly configHash: string;
  readonly model: string;
  readonly maxTurns: number;
  /** The caps there are: the input's, else the agent's. */
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
  readonly deadlineMs?: number;
  readonly price?: ModelPrice;
  /** The model has no known price, and the run was told to start all the same: its money cap is not kept. */
  readonly priceUnknown?: boolean;
  readonly contextWindow: number;
  /** The models that may be asked, the first one first. Absent in runs of older versions: `model` alone. */
  readonly route?: readonly ModelCandidate[];
  /** Of the model that writes summaries, where the policy names one. */
  readonly summaryPrice?: ModelPrice;
  /** What a provider keeps of a prompt is found again by this name: the same for all runs of a session. */
  readonly cacheKey?: string;
  /** What was not as asked for, and an operator should know: a fallback that was left out, a level of thinking that was mapped. */
  readonly notices?: readonly string[];
  /** Absent in runs that 0.1 prepared: they go on as they began. */
  readonly policy?: RunPolicy;
  /** The queue of the host that has the workspace, or the process of its executor; absent: the run's own queue. */
  readonly toolQueue?: string;
  /** Search attributes the server knows; only these may be written (an unknown one fails the workflow task for ever). */
  readonly searchAttributes: readonly string[];
}
