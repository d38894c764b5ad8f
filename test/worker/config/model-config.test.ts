import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../../src/worker/config/check-config.js';

const HTTP = { api: 'openai-chat', baseUrl: 'https://h/v1' };
const AGENT = { description: 'd', prompt: 'p' };

/** A problem as it begins: what stands behind is for people. */
type Case = readonly [config: Readonly<Record<string, unknown>>, problem: string];

describe('what a config says of models', () => {
  it('is taken when it is right: bare names, fallbacks, levels, facts, times, every kind of provider and executor', () => {
    const config = {
      model: 'gpt-5',
      fallbacks: ['anthropic/claude-sonnet-5', 'mine/vendor/model', 'small'],
      resolve: 'first-available',
      thinking: 2_000,
      models: { 'mine/m': { thinking: 'low', thinkingStyle: 'effort', times: { idleMs: 1_000, totalMs: 10_000 }, images: false } },
      credentials: { openai: ['env:OPENAI_API_KEY', 'file:/run/secrets/openai'], mine: 'env:MINE' },
      providers: {
        mine: { ...HTTP, preset: 'openrouter', quirks: { headers: { 'x-team': 'red' }, query: { 'api-version': '1' } } },
        reasoning: { ...HTTP, api: 'openai-responses' },
        old: { ...HTTP, api: 'openai-completions', quirks: { template: 'gemma' } },
        bedrock: { api: 'anthropic-bedrock', region: 'eu-west-1', credentials: { accessKey: 'env:A', secretKey: 'env:A' } },
        vertex: { api: 'anthropic-vertex', region: 'europe-west1', projectId: 'p' },
        other: { api: 'ai-sdk', languageModel: () => undefined },
      },
      agents: {
        thinker: { ...AGENT, model: 'mine/m', thinking: 'high', fallbacks: ['gpt-5'] },
        crew: { ...AGENT, executor: { kind: 'subprocess', command: 'crew', env: { KEY: 'env:CREW_KEY', MODE: 'fast' } } },
        parrot: { ...AGENT, executor: { kind: 'stub', answer: 'hello' } },
      },
    };
    expect(checkConfig(config, [])).toHaveProperty('config');
  });

  it.each<Case>([
    [{ model: 'opnai/gpt-5' }, 'model: unknown provider "opnai" (did you mean openai?)'],
    [{ fallbacks: ['openai/a', 'antropic/b'] }, 'fallbacks.1: unknown provider "antropic" (did you mean anthropic?)'],
    [{ fallbacks: ['openai/'] }, 'fallbacks.0: use provider/model, got "openai/"'],
    [{ fallbacks: 'openai/a' }, 'fallbacks: '],
    [{ fallbacks: Array.from({ length: 17 }, (_, index) => `openai/${index}`) }, 'fallbacks: '],
    [{ resolve: 'first-avaliable' }, 'resolve: Invalid option: expected one of "strict"|"first-available" (did you mean first-available?)'],
    [{ agents: { a: { ...AGENT, fallbacks: ['nobody/m'] } } }, 'agents.a.fallbacks.0: unknown provider "nobody"'],
    [{ agents: { a: { ...AGENT, compaction: { summaryModel: 'gpt-5' } } } }, 'agents.a.compaction.summaryModel: use provider/model'],
    [{ models: { 'gpt-5': {} } }, 'models.gpt-5: use provider/model'],
    [{ models: { 'opnai/m': {} } }, 'models.opnai/m: unknown provider "opnai" (did you mean openai?)'],
    [{ models: { 'openai/m': { contextWindows: 9_000 } } }, 'models.openai/m.contextWindows: unknown (did you mean contextWindow?)'],
    [{ models: { 'openai/m': { price: { input: -1, output: 1 } } } }, 'models.openai/m.price.input: '],
    [{ models: { 'openai/m': { price: { input: 1, outptu: 1 } } } }, 'models.openai/m.price.outptu: unknown (did you mean output?)'],
    [{ models: { 'openai/m': { thinkingStyle: 'efort' } } }, 'models.openai/m.thinkingStyle: Invalid option'],
    [{ models: { 'openai/m': { times: { idle: 1 } } } }, 'models.openai/m.times.idle: unknown (did you mean idleMs?)'],
    [
      { models: { 'openai/m': { times: { idleMs: 60_000, totalMs: 30_000 } } } },
      'models.openai/m.times.idleMs: 60000 is above totalMs 30000',
    ],
    [{ models: { 'openai/m': { times: { totalMs: 5 } } } }, 'models.openai/m.times.totalMs: '],
  ])('B20: %j is told with its path and the nearest right word', expectProblem);

  it.each<Case>([
    [{ thinking: 'hihg' }, 'thinking: Invalid option: expected one of "off"|"minimal"|"low"|"medium"|"high", or '],
    [{ thinking: 'hihg' }, '(did you mean high?)'],
    [{ thinking: 0 }, 'thinking: '],
    [{ models: { 'openai/m': { thinkingStyle: 'none', thinking: 'low' } } }, 'models.openai/m.thinking: BAD_THINKING openai/m: '],
    [
      { model: 'openai/m', thinking: 'low', models: { 'openai/m': { thinkingStyle: 'effort', thinkingLevels: ['high'] } } },
      'thinking: BAD_THINKING openai/m: this model does not support the level low; supported: high',
    ],
    [
      { models: { 'openai/m': { thinkingStyle: 'none' } }, agents: { a: { ...AGENT, model: 'openai/m', thinking: 500 } } },
      'agents.a.thinking: BAD_THINKING openai/m: ',
    ],
  ])('C-32: the thinking of %j is refused with what there is', expectProblem);
});

describe('what a config says of providers', () => {
  it.each<Case>([
    [{ providers: { p: { ...HTTP, api: 'openai-chta' } } }, 'providers.p.api: one of openai-chat, openai-responses, openai-completions, '],
    [{ providers: { p: { ...HTTP, api: 'openai-chta' } } }, '(did you mean openai-chat?)'],
    [{ providers: { p: { baseUrl: 'https://h' } } }, 'providers.p.api: one of openai-chat, '],
    [{ providers: { p: { api: 'anthropic' } } }, 'providers.p.baseUrl: missing, expected string'],
    [{ providers: { p: { api: 'anthropic-bedrock' } } }, 'providers.p.region: missing, expected string'],
    [{ providers: { p: { api: 'anthropic-bedrock', region: 'r', baseUlr: 'x' } } }, 'providers.p.baseUlr: unknown (did you mean baseUrl?)'],
    [{ providers: { p: { api: 'anthropic-vertex', region: 'r', project: 'p' } } }, 'providers.p.projectId: missing, expected string'],
    [{ providers: { p: { api: 'ai-sdk' } } }, 'providers.p.languageModel: missing, expected a function (modelId'],
    [{ providers: { p: { ...HTTP, languageModel: 1 } } }, 'providers.p.languageModel: unknown'],
    [{ providers: { p: { api: 'ai-sdk', languageModel: () => 1, baseUrl: 'x' } } }, 'providers.p.baseUrl: unknown'],
    [
      { providers: { p: { ...HTTP, preset: 'openruter' } } },
      'providers.p.preset: unknown "openruter" (did you mean openrouter?); known: openai, ',
    ],
    [{ providers: { p: { ...HTTP, preset: 'scripted' } } }, 'providers.p.preset: unknown "scripted"'],
    [{ providers: { p: { ...HTTP, preset: 'constructor' } } }, 'providers.p.preset: unknown "constructor"'],
    [
      { providers: { p: { ...HTTP, quirks: { strictTerminl: false } } } },
      'providers.p.quirks.strictTerminl: unknown (did you mean strictTerminal?)',
    ],
    [{ providers: { p: { ...HTTP, quirks: { toolCallsAsText: 'qwen' } } } }, 'providers.p.quirks.toolCallsAsText: Invalid option'],
    [{ providers: { p: { ...HTTP, quirks: { template: 'gemma' } } } }, 'providers.p.quirks.template: only api openai-completions'],
    [
      { providers: { p: { ...HTTP, quirks: { headers: { Authorization: 'x' } } } } },
      'providers.p.quirks.headers.Authorization: set keys by reference in credentials',
    ],
    [
      { providers: { p: { ...HTTP, quirks: { query: { key: 'x' } } } } },
      'providers.p.quirks.query.key: set keys by reference in credentials',
    ],
    [
      { providers: { p: { ...HTTP, quirks: { headers: { 'x-a': 'one\ntwo' } } } } },
      'providers.p.quirks.headers.x-a: not a valid HTTP header',
    ],
    [{ providers: { p: { ...HTTP, quirks: { headers: { 'x a': '1' } } } } }, 'providers.p.quirks.headers.x a: not a valid HTTP header'],
    ...['Host', 'content-length', 'Content-Type', 'connection', 'transfer-encoding'].map(
      (name): Case => [
        { providers: { p: { ...HTTP, quirks: { headers: { [name]: '5' } } } } },
        `providers.p.quirks.headers.${name}: the HTTP client sets this header; remove it`,
      ],
    ),
    ...['env:GATEWAY_KEY', 'file:/run/secrets/key', 'sk-live-0123456789', 'Bearer abcdef'].map(
      (value): Case => [
        { providers: { p: { ...HTTP, quirks: { headers: { 'x-gateway': value } } } } },
        'providers.p.quirks.headers.x-gateway: set keys by reference in credentials',
      ],
    ),
    [
      { providers: { p: { ...HTTP, api: 'anthropic', quirks: { thinkTag: 'think' } } } },
      'providers.p.quirks.thinkTag: not supported by api anthropic; supported: strictTerminal, ',
    ],
    [
      { providers: { p: { ...HTTP, api: 'openai-responses', quirks: { toolCallsAsText: 'qwen3' } } } },
      'providers.p.quirks.toolCallsAsText: not supported by api openai-responses',
    ],
    [
      { providers: { p: { ...HTTP, quirks: { thinkTag: '<think>' } } } },
      'providers.p.quirks.thinkTag: the name of a tag without its brackets, such as "think"',
    ],
    [{ providers: { p: { ...HTTP, baseUrl: 'https://h/v1?' } } }, 'providers.p.baseUrl: BAD_BASE_URL it has a query or a fragment'],
    [{ providers: { p: { ...HTTP, baseUrl: 'https://h/v1#' } } }, 'providers.p.baseUrl: BAD_BASE_URL it has a query or a fragment'],
    [{ providers: { stub: HTTP } }, 'providers.stub: this name is reserved'],
    [
      { providers: { p: { api: 'anthropic-vertex', region: 'r', projectId: 'p', baseUrl: 'http://h' } } },
      'providers.p.baseUrl: BAD_BASE_URL plain http',
    ],
  ])('B20, B23: %j is told with its path and the nearest right word', expectProblem);

  it.each<Case>([
    [{ credentials: { opnai: ['env:A'] } }, 'credentials: unknown provider "opnai" (did you mean openai?)'],
    [
      { credentials: { openai: ['OPENAI_API_KEY'] } },
      'credentials.openai.0: a reference like "env:OPENAI_API_KEY" or "file:/run/secrets/openai"',
    ],
    [{ credentials: { openai: ['file:secrets/openai'] } }, 'credentials.openai.0: a reference like'],
    [{ credentials: { openai: 'sk-0123456789abcdef' } }, 'credentials.openai: a reference like "env:OPENAI_API_KEY"'],
    [{ credentials: { openai: [] } }, 'credentials.openai: '],
    [{ credentials: { openai: ['env:A', 'env:A'] } }, 'credentials.openai: env:A is listed twice'],
    [{ providers: { p: { ...HTTP, credentials: ['env:A', 'env:A'] } } }, 'providers.p.credentials: env:A is listed twice'],
    [
      { providers: { p: { ...HTTP, credentials: 'env:A' } }, credentials: { p: ['env:B'] } },
      'credentials.p: this provider is defined in providers.p; set its keys there',
    ],
    [
      { providers: { p: { api: 'anthropic-bedrock', region: 'r', credentials: { accessKey: 'A', secretKey: 'env:B' } } } },
      'providers.p.credentials.accessKey: a reference like',
    ],
  ])('B22: keys are given by reference, each once and in one place: %j', expectProblem);
});

describe('what a config says of executors', () => {
  it.each<Case>([
    [
      { agents: { a: { ...AGENT, executor: { kind: 'subproces', command: 'x' } } } },
      'agents.a.executor.kind: one of llm, subprocess, stub (did you mean subprocess?)',
    ],
    [{ agents: { a: { ...AGENT, executor: { kind: 'subprocess' } } } }, 'agents.a.executor.command: missing, expected string'],
    [
      { agents: { a: { ...AGENT, executor: { kind: 'subprocess', command: 'x', arg: [] } } } },
      'agents.a.executor.arg: unknown (did you mean args?)',
    ],
    [{ agents: { a: { ...AGENT, executor: { kind: 'stub' } } } }, 'agents.a.executor.answer: missing, expected string'],
    [
      { agents: { a: { ...AGENT, executor: { kind: 'stub', answr: 'x', answer: 'x' } } } },
      'agents.a.executor.answr: unknown (did you mean answer?)',
    ],
    [
      { agents: { a: { ...AGENT, model: 'openai/m', executor: { kind: 'stub', answer: 'x' } } } },
      'agents.a.model: not used by an agent with a stub executor; remove it',
    ],
    [
      { agents: { a: { ...AGENT, thinking: 'low', executor: { kind: 'stub', answer: 'x' } } } },
      'agents.a.thinking: not used by an agent with a stub executor; remove it',
    ],
    [
      { agents: { a: { ...AGENT, executor: { kind: 'subprocess', command: 'x', env: { KEY: 'env:MY-KEY' } } } } },
      'agents.a.executor.env.KEY: use a value, or a reference such as "env:NAME" or "file:/path"',
    ],
  ])('B20: %j is told with its path and the nearest right word', expectProblem);
});

function expectProblem(config: Case[0], problem: string): void {
  const checked = checkConfig(config, []);
  expect('problems' in checked ? checked.problems.join('\n') : 'no problem').toContain(problem);
}
