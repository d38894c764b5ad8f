import { PerdureError } from '../../contracts/perdure-error.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import type { LoadedConfig } from '../../worker/config/load-config.js';
import type { Preview } from '../../worker/config/preview-prompt.js';
import { resolveStateDir } from '../../worker/state-folder/state-folder.js';
import { formatTable } from '../display/format.js';
import { printJson, printText, say } from '../display/output.js';
import { terminalText } from '../display/terminal-text.js';
import type { CliContext } from '../host/context.js';
import { loadConfigHere } from '../host/load-config.js';
import { checkWorkspace } from '../options/workspace.js';

/** The options of `prompt`. */
export interface PromptOptions {
  readonly agent?: string;
  readonly workspace?: string;
  readonly model?: string;
  /** `NAME=VALUE` each. */
  readonly var?: readonly string[];
  readonly json?: boolean;
}

/** `prompt`: prints the system prompt of a run, and the sizes of its sections. Starts nothing. */
export async function prompt(task: string | undefined, options: PromptOptions, { output }: CliContext): Promise<number> {
  const input = await previewInput(task, options);
  const config = await loadConfigHere();
  const preview = await previewHere(config, input);
  const { notices = [] } = config;
  if (options.json) printJson(output, { ...preview, notices: [...notices, ...preview.notices] });
  else {
    printText(output, preview.prompt);
    output.stderr.write(`${terminalText(promptSizes(preview))}\n`);
    for (const notice of [...notices, ...preview.notices]) say(output, `notice: ${notice}`);
  }
  return 0;
}

/** Prepares a run of this folder's config, and starts nothing. Throws as `previewPrompt` does. */
export async function previewHere(config: LoadedConfig, input: Partial<RunInput>): Promise<Preview> {
  const [{ previewPrompt }, { createArtifactStore }] = await Promise.all([
    import('../../worker/config/preview-prompt.js'),
    import('../../worker/storage/artifact-store.js'),
  ]);
  return await previewPrompt(config, input, createArtifactStore(config, resolveStateDir()));
}

/** The part of a run's input that the options of a preview give. Throws `WORKSPACE` and `BAD_OPTION` (exit 2). */
export async function previewInput(
  task: string | undefined,
  { agent, workspace, model, var: given = [] }: PromptOptions,
): Promise<Partial<RunInput>> {
  const variables = Object.fromEntries(given.map(parseVariable));
  const context = {
    ...(workspace === undefined ? {} : { workspace: await checkWorkspace(workspace, { iKnow: false }) }),
    ...(given.length === 0 ? {} : { variables }),
  };
  return {
    ...(task === undefined ? {} : { task }),
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(Object.keys(context).length === 0 ? {} : { context }),
  };
}

function parseVariable(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new PerdureError('BAD_OPTION', `--var ${JSON.stringify(text.slice(0, 80))}: use NAME=VALUE`, 2);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** A table of the sizes of a prompt's sections. Pure. */
export function promptSizes({ sections, tools, tokens, modelProblem }: Preview): string {
  const rows = [
    ...sections.map(({ name, tokens: size, changesWith }) => [name, String(size), CHANGES[changesWith]]),
    ['total', String(tokens.prompt), ''],
    ['tools', String(tokens.tools), `${tools.length} schemas, sent beside the prompt`],
  ];
  const stable =
    tokens.stable === 0
      ? 'stable for prompt caches: nothing; the first section differs between runs'
      : `stable for prompt caches: the first ${tokens.stable} of ${tokens.prompt} tokens, for all runs of this agent`;
  return [
    formatTable(['SECTION', 'TOKENS', 'CHANGES WITH'], rows),
    `${stable}; within a run, all of it`,
    ...(modelProblem === undefined ? [] : [`a run would not start: ${modelProblem}`]),
  ].join('\n');
}

const CHANGES = {
  config: 'the config',
  workspace: 'the workspace',
  day: 'the day, the model',
  run: "the run's input",
} as const;
