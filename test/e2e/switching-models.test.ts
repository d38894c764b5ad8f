import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/contracts/schemas/run.js';
import { until } from '../support/use-workers.js';
import { usePerdureFolders, WAIT_MS_MAX } from './support/perdure-folder.js';
import { useModels } from './support/use-models.js';

const CLAUDE = 'anthropic/claude-sonnet-4-5';
const GPT = 'openai-responses/gpt-5-mini';
const LOCAL = 'lmstudio/qwen3';

const LIMITED = { status: 429, retryAfter: 600, times: 99 } as const;

describe('a run that goes from one provider to the next', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('begins over messages with thinking and tools, is limited, goes on over Responses, ends on a compatible server, and is killed while the first two cool down', async () => {
    const claude = await model({
      formats: ['anthropic'],
      script: {
        steps: [
          { thinking: 'first I look', text: 'looking', toolCalls: [{ name: 'look', args: { name: 'a' } }] },
          { text: 'never said', fault: LIMITED },
        ],
      },
    });
    const gpt = await model({
      formats: ['openai-responses'],
      script: {
        steps: [
          { thinking: 'unused', toolCalls: [{ name: 'look', args: { name: 'unused' } }] },
          { thinking: 'then I send', text: 'sending', toolCalls: [{ name: 'send_once', args: { name: 'b' } }] },
          { text: 'never said', fault: LIMITED },
        ],
      },
    });
    const local = await model({
      // a server on one's own machine is asked without a key
      apiKey: 'none',
      formats: ['openai-chat'],
      script: {
        steps: [
          { toolCalls: [{ name: 'look', args: { name: 'unused' } }] },
          { toolCalls: [{ name: 'look', args: { name: 'unused' } }] },
          { text: 'slowly', toolCalls: [{ name: 'put_idempotent', args: { name: 'c' } }] },
          { text: 'all three did their part' },
        ],
      },
    });
    const here = await folder({
      ANTHROPIC_API_KEY: claude.apiKey,
      ANTHROPIC_BASE_URL: claude.anthropicBaseUrl,
      OPENAI_API_KEY: gpt.apiKey,
      OPENAI_BASE_URL: gpt.openaiBaseUrl,
      LMSTUDIO_BASE_URL: local.openaiBaseUrl,
    });
    await here.hold('c');
    const started = here.start(['run', 'go', '--id', 'r1', '--model', CLAUDE, '--fallback', `${GPT},${LOCAL}`, '--thinking', 'medium']);
    await until(
      async () => (await here.effects().catch(() => [])).some(({ tool }) => tool === 'put_idempotent'),
      'the third model',
      WAIT_MS_MAX,
    );
    await started.kill('SIGKILL');
    await here.release();

    const result = (await here.json(['watch', 'r1'])) as RunResult;
    expect(result).toMatchObject({ reason: 'completed', output: 'all three did their part', turns: 4, toolCalls: 3 });
    expect(result.models).toEqual([CLAUDE, GPT, LOCAL]);
    expect(result.switches).toEqual([
      { turn: 2, from: CLAUDE, to: GPT, why: 'Model.RateLimited' },
      { turn: 3, from: GPT, to: LOCAL, why: 'Model.RateLimited' },
    ]);
    const spent = result.byModel ?? [];
    expect(spent.map(({ model: name, calls }) => [name, calls])).toEqual([
      [CLAUDE, 1],
      [GPT, 1],
      [LOCAL, 2],
    ]);
    expect(spent[0]?.costUsd).toBeGreaterThan(0);
    expect(spent[1]?.costUsd).toBeGreaterThan(0);
    expect(result.costUsd).toBeCloseTo(
      spent.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0),
      10,
    );
    // a limited model is asked once, and not again by the process that came after
    expect(claude.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'faulted']);
    expect(gpt.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'faulted']);
    expect(local.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'answered']);
    expect(await here.startsOf('send_once')).toHaveLength(1);
    const shown = await here.type(['show', 'r1']);
    expect(shown.stdout).toContain(CLAUDE);
    expect(shown.stdout).toContain('Model.RateLimited');
  });
});
