import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelFailureType } from '../../../src/providers/contract/model-error.js';
import { modelErrorOf } from '../support/model-error-of.js';
import { type RawHandler, type RawServer, startRawServer, statusOf, streamOf } from '../support/raw-server.js';
import { WIRES } from '../support/wire.js';

interface Told {
  readonly by: string;
  readonly status: number;
  readonly body: unknown;
  readonly type: ModelFailureType;
}

const XAI_SPENT =
  'Your team 1f2e has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.';
const OPENAI_TOO_LARGE =
  'Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 38324. The input or output tokens must be reduced in order to run successfully.';

/** What servers answer, as they do, where the status alone would tell the wrong thing. */
const TOLD: readonly Told[] = [
  { by: 'xAI', status: 429, body: { code: 'Some resource has been exhausted', error: XAI_SPENT }, type: 'Model.Quota' },
  { by: 'xAI', status: 403, body: { code: 'permission-denied', error: XAI_SPENT }, type: 'Model.Quota' },
  {
    by: 'Gemini',
    status: 429,
    body: [
      { error: { code: 429, message: 'Your prepayment credits are depleted. Please go to AI Studio.', status: 'RESOURCE_EXHAUSTED' } },
    ],
    type: 'Model.Quota',
  },
  {
    by: 'Gemini',
    status: 429,
    body: [{ error: { code: 429, message: 'You exceeded your current quota, please check your plan.', status: 'RESOURCE_EXHAUSTED' } }],
    type: 'Model.RateLimited',
  },
  {
    by: 'Anthropic',
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' },
    },
    type: 'Model.Quota',
  },
  {
    by: 'Anthropic',
    status: 400,
    body: { type: 'error', error: { type: 'invalid_request_error', message: 'You have reached your specified API usage limits.' } },
    type: 'Model.Quota',
  },
  {
    by: 'Anthropic',
    status: 429,
    body: {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'You have reached your API usage limits: your organization has …' },
    },
    type: 'Model.Quota',
  },
  ...[
    'credit_balance_exhausted',
    'organization_usage_limit_exceeded',
    'organization_spend_limit_exceeded',
    'project_spend_limit_exceeded',
  ].map(
    (code): Told => ({ by: 'OpenAI', status: 429, body: { error: { message: 'No more.', type: 'billing', code } }, type: 'Model.Quota' }),
  ),
  {
    by: 'OpenAI',
    status: 400,
    body: { error: { message: 'Billing hard limit has been reached', type: 'invalid_request_error', code: 'billing_hard_limit_reached' } },
    type: 'Model.Quota',
  },
  {
    by: 'OpenAI',
    status: 429,
    body: { error: { message: 'Your account is not active.', type: 'billing_not_active', code: 'billing_not_active' } },
    type: 'Model.Quota',
  },
  {
    by: 'Groq',
    status: 400,
    body: { error: { message: 'Organization spend limit reached.', type: 'invalid_request_error', code: 'blocked_api_access' } },
    type: 'Model.Quota',
  },
  { by: 'OpenRouter', status: 403, body: { error: { message: 'Key limit exceeded (total limit).', code: 403 } }, type: 'Model.Quota' },
  {
    by: 'OpenRouter',
    status: 403,
    body: { error: { message: 'anthropic/claude requires moderation on Bedrock. Your input was flagged for "violence".', code: 403 } },
    type: 'Model.ContentFilter',
  },
  {
    by: 'xAI',
    status: 403,
    body: { code: 'permission-denied', error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO' },
    type: 'Model.ContentFilter',
  },
  {
    by: 'xAI',
    status: 403,
    body: { code: 'permission-denied', error: "Your newly created team doesn't have any credits or licenses yet." },
    type: 'Model.Quota',
  },
  {
    by: 'Gemini',
    status: 400,
    body: [{ error: { code: 400, message: 'User location is not supported for the API use.', status: 'FAILED_PRECONDITION' } }],
    type: 'Model.Auth',
  },
  {
    by: 'Anthropic',
    status: 400,
    body: { type: 'error', error: { type: 'invalid_request_error', message: 'This organization has been disabled.' } },
    type: 'Model.Auth',
  },
  {
    by: 'Groq',
    status: 400,
    body: { error: { message: 'Organization has been restricted. Please reach out to support.', type: 'invalid_request_error' } },
    type: 'Model.Auth',
  },
  {
    by: 'Bedrock',
    status: 424,
    body: { message: 'The request failed due to an error while processing the model.' },
    type: 'Model.Overloaded',
  },
  { by: 'Groq', status: 498, body: { error: { message: 'over capacity', code: 'capacity_exceeded' } }, type: 'Model.Overloaded' },
  {
    by: 'OpenAI',
    status: 429,
    body: { error: { message: OPENAI_TOO_LARGE, type: 'tokens', code: 'rate_limit_exceeded' } },
    type: 'Model.ContextOverflow',
  },
  {
    by: 'llama.cpp',
    status: 503,
    body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
    type: 'Model.Unreachable',
  },
  {
    by: 'llama.cpp',
    status: 500,
    body: { error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } },
    type: 'Model.ContextOverflow',
  },
];

/** Overflows, and whether a lower output limit may be enough. */
const OVERFLOWS: readonly (readonly [by: string, message: string, hint: 'lower-output' | undefined])[] = [
  [
    'LM Studio',
    'Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    undefined,
  ],
  [
    'vLLM',
    "You passed 3073 input tokens and requested 128000 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 3072 tokens. Please reduce the length of the input prompt.",
    'lower-output',
  ],
  ['SGLang and Together', "The input (516368 tokens) is longer than the model's context length (262144 tokens).", undefined],
  [
    'Together',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 65537. Given: 79993 `inputs` tokens and 1024 `max_new_tokens`',
    'lower-output',
  ],
  ['Text Generation Inference', 'Input validation error: `inputs` must have less than 4096 tokens. Given: 5000', undefined],
  [
    'OpenRouter',
    "This endpoint's maximum context length is 262000 tokens. However, you requested about 263390 tokens (658 of text input, 732 of tool input, 262000 in the output). Please reduce the length of either one.",
    'lower-output',
  ],
];

/** How long servers say to wait where no header does. */
const WAITS: readonly (readonly [by: string, message: string, waitMs: number | undefined])[] = [
  ['Groq', 'Rate limit reached for model `x`: Limit 6000, Used 5990, Requested 776. Please try again in 7.66s. Need more tokens?', 7_660],
  ['Groq', 'Rate limit reached on tokens per day (TPD). Please try again in 7m54.5s.', 474_500],
  ['OpenAI', 'Rate limit reached for gpt-4o. Please try again in 20ms. Visit the page.', 20],
  ['OpenAI', 'Rate limit reached for gpt-4o. Please try again in 6m0s.', 360_000],
  ['Azure', 'Requests have exceeded token rate limit. Please retry after 26 seconds.', 26_000],
  ['Gemini', 'You exceeded your current quota.\n* Quota exceeded for metric: x, limit: 5\nPlease retry in 45.837906927s.', 45_838],
  ['nobody', 'Please try again in 5 attempts, or retry after a while.', undefined],
];

const upstream = (status: number, raw: string): unknown => ({
  error: { message: 'Provider returned error', code: status, metadata: { raw, provider_name: 'Crucible' } },
});

const resetAt = (at: number): unknown => ({
  error: { message: 'Rate limit exceeded: free-models-per-min.', code: 429, metadata: { headers: { 'X-RateLimit-Reset': String(at) } } },
});

describe.each(WIRES)('what real servers answer, over $name,', (wire) => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const failureOf = (handler: RawHandler) => modelErrorOf(wire, server, { handler });

  it.each(TOLD)('with status $status by $by is $type: $body', async ({ status, body, type }) => {
    expect(await failureOf(statusOf(status, body))).toMatchObject({ type, status });
  });

  it.each(OVERFLOWS)('by %s when the window is too small is told as such: %s', async (_, message, hint) => {
    for (const status of [400, 422]) {
      expect(await failureOf(statusOf(status, wire.errorBody({ message })))).toMatchObject({ type: 'Model.ContextOverflow', hint });
    }
    const [start = ''] = wire.events({ text: 'Hi.' });
    expect((await failureOf(streamOf(start, wire.errorEvent({ message, type: 'server_error' })))).type).toBe('Model.ContextOverflow');
  });

  it.each(WAITS)('by %s in words alone asks to wait as long as they say: %j', async (_, message, waitMs) => {
    expect((await failureOf(statusOf(429, wire.errorBody({ message })))).retryAfterMs).toBe(waitMs);
    const [start = ''] = wire.events({ text: 'Hi.' });
    const told = await failureOf(streamOf(start, wire.errorEvent({ type: 'rate_limit_exceeded', message })));
    expect(told).toMatchObject({ type: 'Model.RateLimited', retryAfterMs: waitMs });
  });

  it('with a header and words asks to wait as long as the header says', async () => {
    const body = wire.errorBody({ message: 'Please try again in 7.66s.' });
    expect((await failureOf(statusOf(429, body, { 'retry-after': '9' }))).retryAfterMs).toBe(9_000);
  });

  it('by OpenRouter with the time of a reset in the body asks to wait until then; one that has passed says nothing', async () => {
    const { retryAfterMs } = await failureOf(statusOf(429, resetAt(Date.now() + 40_000)));
    expect(retryAfterMs).toBeGreaterThan(20_000);
    expect(retryAfterMs).toBeLessThanOrEqual(40_000);
    expect((await failureOf(statusOf(429, resetAt(Date.now() - 1_000)))).retryAfterMs).toBeUndefined();
  });

  it('as a text alone is told as that text, with any status, and within the stream', async () => {
    expect(await failureOf(statusOf(429, { code: 'Some resource has been exhausted', error: XAI_SPENT }))).toMatchObject({
      message: XAI_SPENT,
    });
    const error = 'Unexpected endpoint or method. (POST /chat/completions)';
    expect(await failureOf(statusOf(200, { error }))).toMatchObject({ type: 'Model.Overloaded', message: error });
    const [start = ''] = wire.events({ text: 'Hi.' });
    const told = await failureOf(streamOf(start, `event: error\ndata: ${JSON.stringify({ error })}\n\n`));
    expect(told).toMatchObject({ type: 'Model.Overloaded', message: error });
  });

  it('by a router that only passes it on is told in the words of the server behind it', async () => {
    const overflow = {
      error: { message: "This model's maximum context length is 4096 tokens.", type: 'invalid_request_error', code: null },
    };
    expect(await failureOf(statusOf(400, upstream(400, JSON.stringify(overflow))))).toMatchObject({
      type: 'Model.ContextOverflow',
      message: overflow.error.message,
    });
    const order = { object: 'error', message: "Unexpected role 'tool' after role 'user'", code: '3230' };
    expect(await failureOf(statusOf(400, upstream(400, JSON.stringify(order))))).toMatchObject({
      type: 'Model.BadRequest',
      message: order.message,
    });
    const busy = 'z-ai/glm is temporarily rate-limited upstream. Please retry shortly.';
    expect(await failureOf(statusOf(429, upstream(429, busy)))).toMatchObject({ type: 'Model.RateLimited', message: busy });
    for (const raw of ['', 'null', '[]', '7']) {
      expect(await failureOf(statusOf(502, upstream(502, raw)))).toMatchObject({ type: 'Model.Overloaded', status: 502 });
    }
  });
});
