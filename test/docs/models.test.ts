import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { formatPrice, formatThinking, formatTokens } from '../../src/cli/display/model-columns.js';
import type { ModelPrice } from '../../src/contracts/schemas/model.js';
import type { ModelFacts } from '../../src/define/model-options.js';
import { KNOWN_MODELS, MODELS_AS_OF } from '../../src/models/catalog/models.js';
import { OPENAI_CHAT_MODELS } from '../../src/models/catalog/openai.js';
import { modelFacts } from '../../src/models/model-facts.js';
import { KNOWN_PROVIDERS, type KnownProvider } from '../../src/providers/access/provider-catalog.js';

const PAGE = fileURLToPath(new URL('../../docs/models.md', import.meta.url));

describe('docs/models.md', () => {
  // its tables are written by: npx vitest run test/docs/models.test.ts -u
  it('has the tables of providers and models that the data gives', async () => {
    const text = await readFile(PAGE, 'utf8');
    const told = filled(filled(text, 'providers', providerTable()), 'models', modelTable());
    await expect(told).toMatchFileSnapshot(PAGE);
  });

  it('names only models that are known, outside of the tables too', async () => {
    const text = filled(filled(await readFile(PAGE, 'utf8'), 'providers', ''), 'models', '');
    const names = [...text.matchAll(/\b(?<name>(?:openai|anthropic)\/(?:gpt|claude)-[\w.-]+)/gu)].map(
      ({ groups }) => groups?.['name'] ?? '',
    );
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => modelFacts(name).price === undefined)).toEqual([]);
  });

  it('says from which model on the chat API of OpenAI has no thinking', () => {
    const without = Object.keys(OPENAI_CHAT_MODELS).filter((name) => OPENAI_CHAT_MODELS[name]?.thinkingLevels?.join() === 'off');
    expect(without).toContain('gpt-5.4');
    expect(without.filter((name) => /^gpt-5(?:\.[0-3])?(?:-|$)/u.test(name))).toEqual([]);
  });
});

/** The page with a table between the two marks of its name. */
function filled(page: string, name: string, table: string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const [before, rest] = [page.indexOf(begin), page.indexOf(end)];
  if (before < 0 || rest < before) throw new Error(`the page has no marks for ${name}`);
  return `${page.slice(0, before + begin.length)}\n${table}\n\n${page.slice(rest)}`;
}

function providerTable(): string {
  const rows = Object.entries(KNOWN_PROVIDERS).map(([name, provider]) => [
    `\`${name}\``,
    WIRES[provider.api] ?? provider.api,
    codeOf(provider.keyVariable) ?? 'none',
    codeOf(provider.baseUrlVariable) ?? '·',
    addressOf(provider),
    codeOf(provider.defaultModel) ?? '·',
    quirksOf(provider),
  ]);
  return markdownTable(['provider', 'speaks', 'key', 'address from', 'else', 'usual model', 'its own way'], rows);
}

/** Formats in words; any other one by its name. */
const WIRES: Readonly<Partial<Record<string, string>>> = {
  'openai-chat': 'chat completions',
  'openai-responses': 'Responses',
  'openai-completions': 'completions',
  anthropic: 'Messages',
  scripted: 'a file',
};

function codeOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `\`${text}\``;
}

function addressOf({ baseUrl, path }: KnownProvider): string {
  return [baseUrl === '' ? undefined : baseUrl, path === undefined ? undefined : `(\`${path}\`)`].filter(Boolean).join(' ') || '·';
}

function quirksOf({ quirks = {} }: KnownProvider): string {
  return (
    Object.entries(quirks)
      .map(([name, value]) => `\`${name}: ${JSON.stringify(value)}\``)
      .join(', ') || '·'
  );
}

function modelTable(): string {
  const models = Object.entries(KNOWN_MODELS).filter(([provider]) => provider !== 'openai');
  const rows = models.flatMap(([provider, known]) => Object.entries(known).map(([name, facts]) => modelRow(`${provider}/${name}`, facts)));
  const table = markdownTable(['model', 'reads', 'writes', 'price', 'cache', 'above', 'thinking', 'tools', 'images'], rows);
  return `As of ${MODELS_AS_OF}. \`perdure models --all\` prints the same, with your own.\n\n${table}`;
}

function modelRow(name: string, facts: ModelFacts): string[] {
  const { price, contextWindow, outputTokensMax, tools, images } = facts;
  const long = price?.longPrompt;
  return [
    `\`${name}\``,
    formatTokens(contextWindow),
    formatTokens(outputTokensMax),
    formatPrice(facts).replace('*', ''),
    price ? cachePrices(price) : '?',
    long ? `${formatTokens(long.aboveTokens)}: ${formatPrice({ price: long })}, ${cachePrices(long)}` : '·',
    formatThinking(facts),
    yesOrNo(tools),
    yesOrNo(images),
  ];
}

function cachePrices({ cacheRead, cacheWrite }: Pick<ModelPrice, 'cacheRead' | 'cacheWrite'>): string {
  return [cacheRead, cacheWrite].map((usd) => (usd === undefined ? '·' : `$${usd}`)).join(' / ');
}

function yesOrNo(ability: boolean | undefined): string {
  if (ability === undefined) return '?';
  return ability ? 'yes' : 'no';
}

function markdownTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  return [markdownRow(heading), `|${'---|'.repeat(heading.length)}`, ...rows.map(markdownRow)].join('\n');
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
