import type { ListedModel, ListedProvider, ModelList } from '../../worker/config/list-models.js';
import { formatNumberOf, formatTable } from '../display/format.js';
import { formatAbilities, formatPrice, formatThinking, formatTokens } from '../display/model-columns.js';
import { printJson, printText, say } from '../display/output.js';
import type { CliContext } from '../host/context.js';
import { loadConfigHere } from '../host/load-config.js';

/** The options of `models`. */
export interface ModelsOptions {
  readonly provider?: string;
  readonly json?: boolean;
  /** Includes providers without a configured key. */
  readonly all?: boolean;
  readonly ask?: boolean;
}

/** `models`: lists models with context window, prices and abilities. By default only those of providers that can be called now. */
export async function models(filter: string | undefined, options: ModelsOptions, { output }: CliContext): Promise<number> {
  const config = await loadConfigHere();
  const { listKnownModels } = await import('../../worker/config/list-models.js');
  const { provider, ask } = options;
  const list = await listKnownModels(config, {
    ...(filter === undefined ? {} : { filter }),
    ...(provider === undefined ? {} : { provider }),
    ...(ask === undefined ? {} : { ask }),
  });
  // a provider that is named explicitly is listed even if it cannot be called
  const shown = options.all || provider !== undefined ? list : callableOnly(list);
  if (options.json) printJson(output, shown);
  else {
    const text = formatModels(shown);
    if (text !== '') printText(output, text);
    for (const line of hints(list, shown, options)) say(output, line);
  }
  return 0;
}

function callableOnly({ asOf, providers, models: all }: ModelList): ModelList {
  return { asOf, providers: providers.filter(({ callable }) => callable), models: all.filter(({ callable }) => callable) };
}

/** Formats two tables: models, and providers with their keys. Omits an empty table. The models of the catalog fit into 100 columns. Pure. */
export function formatModels({ models: rows, providers }: ModelList): string {
  const tables = [
    { heading: ['MODEL', 'WINDOW', 'OUT', '$ IN / OUT', 'THINKING', 'SUPPORTS'], rows: rows.map(modelRow) },
    { heading: ['PROVIDER', 'KEY'], rows: providers.map(providerRow) },
  ];
  return tables.flatMap((table) => (table.rows.length > 0 ? [formatTable(table.heading, table.rows)] : [])).join('\n\n');
}

function modelRow(facts: ListedModel): string[] {
  const { model, contextWindow, outputTokensMax } = facts;
  return [
    model,
    formatTokens(contextWindow),
    formatTokens(outputTokensMax),
    formatPrice(facts),
    formatThinking(facts),
    formatAbilities(facts),
  ];
}

function providerRow({ name, callable, keys, problem }: ListedProvider): string[] {
  const key = keys.length > 0 ? keys.map((reference) => reference.replace(/^env:/u, '')).join(', ') : 'not required';
  if (problem === undefined) return [name, key];
  return [name, callable ? `${key}; ${problem}` : problem.replaceAll(/SECRET_MISSING (?:env:)?/gu, 'no ')];
}

function hints(all: ModelList, shown: ModelList, { ask }: ModelsOptions): string[] {
  const hasLongPromptPrice = shown.models.some(({ price }) => price?.longPrompt);
  const hidden = { models: all.models.length - shown.models.length, providers: all.providers.length - shown.providers.length };
  const omitted = `${formatNumberOf(hidden.models, 'model')} of ${formatNumberOf(hidden.providers, 'provider')}`;
  return [
    ...(shown.models.length > 0
      ? [`prices in USD per million tokens, as of ${all.asOf}${hasLongPromptPrice ? '; * higher for long prompts, see --json' : ''}`]
      : []),
    ...(hidden.providers > 0 ? [`not shown, no configured key or address: ${omitted}; list them with --all`] : []),
    ...(ask ? [] : ['query the servers, including local ones, with --ask']),
  ];
}
