import { toolArguments } from '../../activities/call-tool/parse-tool-arguments.js';
import { type CallTrial, type TriedCall, tryCall } from '../../activities/call-tool/try-call.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import type { AnyToolDefinition } from '../../define/define-tool.js';
import { workerSecrets } from '../../providers/access/worker-secrets.js';
import { updatePlan } from '../../tools/update-plan.js';
import { withStateFolder } from '../../tools/workspace/jail.js';
import { backgroundCommands } from '../hosting/background-commands.js';
import type { LoadedConfig } from './load-config.js';
import { type PrepareOptions, prepareOptions } from './prepare-options.js';

/** A tool of a config by its name, and the arguments of one call. */
export interface ToolTrial extends Pick<CallTrial, 'workspace' | 'signal' | 'onLog' | 'artifacts'> {
  readonly name: string;
  readonly args: JsonValue;
  readonly stateDir: string;
}

/**
 * Runs one tool of a config, of its plugins, or a built-in one, as `tryCall` does. Throws PerdureError `UNKNOWN_TOOL` and `BAD_ARGUMENTS`
 * (2), before the tool starts.
 */
export async function tryTool(loaded: LoadedConfig, { name, args, stateDir, ...trial }: ToolTrial): Promise<TriedCall> {
  const { artifacts } = trial;
  const tool = findTool(allTools(loaded, prepareOptions(loaded, artifacts, backgroundCommands(stateDir))), name);
  const parsed = toolArguments({ tool: name, args }, tool);
  if ('problem' in parsed) throw new PerdureError('BAD_ARGUMENTS', parsed.problem, 2);
  const secrets = workerSecrets({ keys: loaded.keys, env: process.env });
  return await withStateFolder(stateDir, () => tryCall(tool, { ...trial, args: parsed.args, secrets }));
}

function allTools({ config }: LoadedConfig, prepared: PrepareOptions): readonly AnyToolDefinition[] {
  const { workspaceTools, listedTools, memoryTools, readArtifact, readSkill } = prepared;
  const onRequest = listedTools.map(({ tool }) => tool);
  return [...(config.tools ?? []), ...workspaceTools, ...onRequest, ...memoryTools, updatePlan, readArtifact, readSkill];
}

function findTool(tools: readonly AnyToolDefinition[], name: string): AnyToolDefinition {
  const tool = tools.find((each) => each.name === name);
  if (tool) return tool;
  const names = tools.map((each) => each.name);
  throw new PerdureError('UNKNOWN_TOOL', `no tool named ${echoValue(name)}${didYouMean(name, names)}; 'perdure tool list' lists them`, 2);
}
