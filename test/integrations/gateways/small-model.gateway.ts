import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { StreamDelta } from '../../../src/providers/contract/provider.js';
import { usePerdureFolders } from '../../e2e/support/perdure-folder.js';
import { message } from '../../providers/suite/ask.js';
import { wireProvider } from '../../providers/suite/wire-fixture.js';
import { modelRequest } from '../../providers/support/wire.js';
import { useSmallModel } from './support/small-model.js';

const CONFIG = fileURLToPath(new URL('fixtures/notes/perdure.config.mjs', import.meta.url));
const TASK = 'Write a note into sea.txt: the sea is blue.';
const API_KEY = 'none-is-needed';

const { model, tools } = useSmallModel();

describe.each(['openai-chat', 'openai-responses', 'anthropic'] as const)('a model that nobody scripted, asked over %s', (api) => {
  it('streams an answer in pieces, to its end, with its tokens', async () => {
    const deltas: StreamDelta[] = [];
    const answer = await wireProvider({ api, url: model().url, apiKey: API_KEY }).call(
      modelRequest({
        prompt: 'You are a helpful assistant.',
        messages: [message('user', 'Write one sentence about the sea.')],
        tools: [],
        outputTokensMax: 100,
        onDelta: (delta) => deltas.push(delta),
      }),
    );
    expect(answer.stop).toBe('end');
    expect(answer.parts).toEqual([{ type: 'text', text: expect.stringMatching(/sea/iu) }]);
    expect(answer.parts).toMatchObject([{ text: deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('') }]);
    expect(deltas.length).toBeGreaterThan(5);
    expect(answer.usage?.inputTokens).toBeGreaterThan(5);
    expect(answer.usage?.outputTokens).toBeGreaterThan(5);
  });
});

describe('an agent on a model that nobody scripted', () => {
  const folder = usePerdureFolders();

  it('calls its tool, reads the result and ends: the task is done', async () => {
    const here = await folder({ LLAMACPP_BASE_URL: tools().url });
    await cp(CONFIG, join(here.dir, 'perdure.config.mjs'));
    const before = tools().answered();
    const run = here.start(['run', TASK, '--agent', 'notes', '--model', 'llamacpp/smollm2', '--json'], { NOTES_DIR: here.workspace });
    const { stdout } = await run.exits(0);
    const result: unknown = JSON.parse(stdout);
    expect(result).toMatchObject({ reason: 'completed', models: ['llamacpp/smollm2'], output: expect.stringMatching(/\S/u) });
    expect(result).toMatchObject({ toolCalls: 1, turns: 2 });
    expect(tools().answered() - before).toBe(2);
    expect(await readFile(join(here.workspace, 'sea.txt'), 'utf8')).toMatch(/the sea is blue/iu);
  });
});
