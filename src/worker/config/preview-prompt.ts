import { ApplicationFailure } from '@temporalio/common';
import { previewRun, type RunPreview } from '../../activities/prepare/preview-run.js';
import type { PromptSection } from '../../activities/prepare/prompt.js';
import { maskPrepared } from '../../activities/runtime/mask-activities.js';
import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import type { PreparedRun } from '../../contracts/activities.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import { CHARS_PER_TOKEN } from '../../contracts/text/estimate-tokens.js';
import { workerSecrets } from '../../providers/access/worker-secrets.js';
import { backgroundCommands } from '../hosting/background-commands.js';
import { resolveStateDir } from '../state-folder/state-folder.js';
import type { LoadedConfig } from './load-config.js';
import { prepareOptions } from './prepare-options.js';

/** A section of a prompt with its size. */
export interface SizedSection extends PromptSection {
  /** Estimated. */
  readonly tokens: number;
}

/** What a run would send, and how it would run. */
export interface Preview extends Pick<PreparedRun, 'policy' | 'maxTurns' | 'maxTokens' | 'maxCostUsd' | 'deadlineMs'> {
  readonly agent: string;
  /** The models that the run may ask, in order. Empty if none can be called. */
  readonly models: readonly string[];
  /** Why no model can be called. */
  readonly modelProblem?: string;
  readonly prompt: string;
  readonly sections: readonly SizedSection[];
  /** The tools, with the estimated size of their schemas, which are sent beside the prompt. */
  readonly tools: readonly { readonly name: string; readonly effect: string; readonly tokens: number }[];
  /** Estimated sizes. `stable`: the beginning of the prompt that is the same for all runs of this agent. */
  readonly tokens: { readonly prompt: number; readonly tools: number; readonly stable: number };
  readonly notices: readonly string[];
}

/** The task of a preview without one. It has no words, so that it matches no skill. */
const NO_TASK = '.';

const RUN_ID = 'preview';

/**
 * Prepares a run with the code of a worker, and starts nothing. No secret of the worker is in the result. Throws PerdureError (exit 2) for
 * an input that cannot start, but not if only the model is missing.
 */
export async function previewPrompt(config: LoadedConfig, input: Partial<RunInput>, artifacts: ArtifactStore): Promise<Preview> {
  const options = { ...prepareOptions(config, artifacts, backgroundCommands(resolveStateDir())), searchAttributes: [] };
  const found = await previewRun({ ...input, task: input.task ?? NO_TASK }, options, RUN_ID).catch((error: unknown) => {
    throw asPerdureError(error);
  });
  return describePreview(found, config);
}

function describePreview({ prepared: found, sections: given, modelProblem }: RunPreview, { keys }: LoadedConfig): Preview {
  const secrets = workerSecrets({ keys, env: process.env });
  const prepared = maskPrepared(found, secrets);
  const { setup, route = [], notices = [], policy, maxTurns, maxTokens, maxCostUsd, deadlineMs } = prepared;
  const sections = given.map((section) => {
    const text = secrets.text(section.text);
    return { ...section, text, tokens: tokensOf(text) };
  });
  const tools = setup.tools.map((tool) => ({
    name: tool.name,
    effect: tool.effect,
    tokens: tokensOf(tool.name + tool.description + JSON.stringify(tool.schema)),
  }));
  const firstOther = sections.findIndex(({ changesWith }) => changesWith !== 'config');
  const stable = firstOther === -1 ? sections : sections.slice(0, firstOther);
  return {
    agent: setup.agent,
    models: modelProblem === undefined ? route.map(({ model }) => model) : [],
    ...(modelProblem === undefined ? {} : { modelProblem }),
    prompt: setup.prompt,
    sections,
    tools,
    tokens: { prompt: tokensOf(setup.prompt), tools: sum(tools), stable: sum(stable) },
    notices,
    maxTurns,
    ...(policy ? { policy } : {}),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

function sum(parts: readonly { readonly tokens: number }[]): number {
  return parts.reduce((total, { tokens }) => total + tokens, 0);
}

/** A code at the beginning of a message. */
const CODED = /^(?<code>[A-Z][A-Z_]+):? (?<text>.*)$/su;

/** A failure of `prepareRun` as an error of the command line. */
function asPerdureError(error: unknown): unknown {
  if (!(error instanceof ApplicationFailure)) return error;
  if (error.type === 'Input.UnknownAgent') return new PerdureError('UNKNOWN_AGENT', error.message, 2, { cause: error });
  const { code = 'BAD_INPUT', text = error.message } = CODED.exec(error.message)?.groups ?? {};
  return new PerdureError(code, text, 2, { cause: error });
}
