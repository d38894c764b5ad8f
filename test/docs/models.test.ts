import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { OPENAI_CHAT_MODELS } from '../../src/models/catalog/openai.js';
import { modelFacts } from '../../src/models/model-facts.js';
import { readPage } from './support/reference-pages.js';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));

/** Tables of the catalog name models of servers that are not in it. */
const GENERATED = /^<!-- generated:.*?^<!-- \/generated/gmsu;

describe('models in docs', () => {
  it('every page names only models that are known', async () => {
    const pages = (await readdir(DOCS, { recursive: true })).filter((name) => name.endsWith('.md'));
    const texts = await Promise.all(pages.map(async (page) => (await readFile(`${DOCS}${page}`, 'utf8')).replaceAll(GENERATED, '')));
    const names = texts.flatMap((text) => [...text.matchAll(/\b(?<name>(?:openai|anthropic)\/(?:gpt|claude)-[\w.-]*\w)/gu)]);
    const unknown = names.map(({ groups }) => groups?.['name'] ?? '').filter((name) => modelFacts(name).price === undefined);
    expect(names.length).toBeGreaterThan(5);
    expect(unknown).toEqual([]);
  });

  it('the page about providers is right from which model on the chat API of OpenAI has no thinking', async () => {
    const without = Object.keys(OPENAI_CHAT_MODELS).filter((name) => OPENAI_CHAT_MODELS[name]?.thinkingLevels?.join() === 'off');
    expect(await readPage('providers.md')).toContain('models from `gpt-5.4` on have only the level `off`');
    expect(without).toContain('gpt-5.4');
    expect(without.filter((name) => /^gpt-5(?:\.[0-3])?(?:-|$)/u.test(name))).toEqual([]);
  });
});
