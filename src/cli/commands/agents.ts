import type { ListedAgent } from '../../worker/config/list-agents.js';
import type { Preview } from '../../worker/config/preview-prompt.js';
import { formatTable, placeOf } from '../display/format.js';
import { printJson, printText, say } from '../display/output.js';
import type { CliContext } from '../host/context.js';
import { loadConfigHere } from '../host/load-config.js';
import { previewHere, previewInput } from './prompt.js';

/** The options of `agents`. */
export interface AgentsOptions {
  readonly workspace?: string;
  readonly json?: boolean;
}

/** `agents`: lists the agents, or shows what one resolves to: models, tools, limits, policy and prompt. */
export async function agents(name: string | undefined, options: AgentsOptions, { output }: CliContext): Promise<number> {
  const config = await loadConfigHere();
  const { listAgents } = await import('../../worker/config/list-agents.js');
  const { notices = [] } = config;
  const listed = listAgents(config);
  if (name === undefined) {
    if (options.json) printJson(output, { agents: listed, notices });
    else printText(output, formatAgents(listed, process.cwd()));
  } else {
    const preview = await previewHere(config, await previewInput(undefined, { ...options, agent: name }));
    const found = listed.find((each) => each.name === name);
    if (options.json) printJson(output, { ...found, ...preview, notices: [...notices, ...preview.notices] });
    else if (found) printText(output, formatAgent(found, preview, process.cwd()));
    if (!options.json) for (const notice of preview.notices) say(output, `notice: ${notice}`);
  }
  if (!options.json) for (const notice of notices) say(output, `notice: ${notice}`);
  return 0;
}

/** A table of agents. Pure. */
export function formatAgents(listed: readonly ListedAgent[], cwd: string): string {
  const rows = listed.map(({ name, model, definedIn, description }) => [name, model ?? 'default', placeOf(definedIn, cwd), description]);
  return formatTable(['AGENT', 'MODEL', 'DEFINED IN', 'DESCRIPTION'], rows);
}

/** One agent, a line for each property. Pure. */
export function formatAgent({ name, description, definedIn }: ListedAgent, preview: Preview, cwd: string): string {
  const { models, modelProblem, tools, tokens, sections, policy, maxTurns, maxTokens, maxCostUsd, deadlineMs } = preview;
  const limits = [
    `${maxTurns} turns`,
    ...(maxTokens === undefined ? [] : [`${maxTokens} tokens`]),
    ...(maxCostUsd === undefined ? [] : [`$${maxCostUsd}`]),
    ...(deadlineMs === undefined ? [] : [`${deadlineMs} ms`]),
  ];
  const rows = [
    ['agent', name],
    ['description', description],
    ['defined in', placeOf(definedIn, cwd)],
    ['models', modelProblem ?? models.join(', then ')],
    ['tools', tools.length === 0 ? 'none' : tools.map((tool) => `${tool.name} (${tool.effect})`).join(', ')],
    ['limits', limits.join(', ')],
    ['gate', policy?.gateFunction ? 'a function' : (policy?.gate.profile ?? 'all')],
    ['prompt', `about ${tokens.prompt} tokens: ${sections.map((section) => section.name).join(', ')}`],
    ['schemas', `about ${tokens.tools} tokens`],
  ];
  return rows.map(([label = '', value = '']) => `${label.padEnd(LABEL_WIDTH)}${value}`).join('\n');
}

const LABEL_WIDTH = 13;
