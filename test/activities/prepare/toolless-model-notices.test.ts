import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeTool } from '../../../src/activities/prepare/offer/tool-descriptor.js';
import { noticeToollessModels } from '../../../src/activities/prepare/toolless-model-notices.js';
import type { Config } from '../../../src/define/define-config.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';

const look = defineTool({ name: 'look', description: 'Looks.', parameters: z.strictObject({}), effect: 'read', execute: () => 'seen' });

const SERVER = { api: 'openai-chat', baseUrl: 'http://127.0.0.1:1/v1' } as const;
const CONFIG: Config = {
  providers: {
    here: SERVER,
    told: { ...SERVER, quirks: { toolCallsAsText: 'qwen3' } },
    raw: { ...SERVER, api: 'openai-completions' },
  },
  models: { 'here/plain': { tools: false }, 'here/able': { tools: true }, 'told/plain': { tools: false }, 'raw/plain': { tools: false } },
};

describe('noticeToollessModels', () => {
  it('each model of the route that takes no tools is told, with what to do', () => {
    const notices = noticesOf(['here/able', 'here/plain', 'here/unheard-of', 'openai/gpt-6-astra']);
    expect(notices).toEqual([
      expect.stringMatching(/^model here\/plain is known to support no tools, and the run has 1: .*; use a different model, /u),
      expect.stringMatching(/^model openai\/gpt-6-astra is known to support no tools/u),
    ]);
  });

  it('a provider that tells tools in text can have a model that takes none', () => {
    expect(noticesOf(['told/plain', 'raw/plain'])).toEqual([]);
  });

  it('a run without tools misses none', () => {
    expect(noticesOf(['here/plain'], [])).toEqual([]);
  });
});

function noticesOf(models: readonly string[], tools = [look]): string[] {
  const options = { config: CONFIG, env: {}, keys: captureKeys({}) };
  const offered = tools.map((tool) => describeTool(tool, { workspace: false, gate: undefined, hooks: undefined }));
  return noticeToollessModels(
    models.map((model) => ({ model })),
    offered,
    options,
  );
}
