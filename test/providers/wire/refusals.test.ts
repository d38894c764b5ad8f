import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelErrorOf } from '../support/model-error-of.js';
import { type RawHandler, type RawServer, startRawServer, statusOf, streamOf } from '../support/raw-server.js';
import { WIRES } from '../support/wire.js';

const OVERFLOWS: readonly Readonly<Record<string, unknown>>[] = [
  { message: 'whatever', code: 'context_length_exceeded' },
  { message: 'Your input exceeds the context window of this model.' },
  { message: 'prompt is too long: 210000 tokens > 200000 maximum', type: 'invalid_request_error' },
  { message: 'input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000', type: 'invalid_request_error' },
  { message: "This model's maximum context length is 4096 tokens. However, you requested 5000." },
  { message: 'the request exceeds the available context size, try increasing it' },
  { message: "This model's maximum prompt length is 131072 but the request contains 537812 tokens" },
  { message: 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length' },
  { message: 'The number of tokens to keep from the initial prompt is greater than the context length' },
  { message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)' },
  { message: 'invalid params, context window exceeds limit' },
  { message: 'Your request exceeded model token limit: 262144 (requested: 300000)' },
  { message: 'Please reduce the length of the messages or completion.' },
];

/** Overflows where the prompt alone may fit, and one where it does not. */
const OUTPUT_ROWS: readonly (readonly [string, string | undefined])[] = [
  ['input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000', 'lower-output'],
  [
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (3000 in the messages, 2000 in the completion).",
    'lower-output',
  ],
  [
    "'max_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has 900 input tokens",
    'lower-output',
  ],
  ['prompt is too long: 210000 tokens > 200000 maximum', undefined],
];

/** What servers say of arguments that are no JSON, each with a status it came with. */
const BAD_JSON_ROWS: readonly (readonly [number, Readonly<Record<string, unknown>>])[] = [
  [
    500,
    {
      code: 500,
      message: 'Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, column 74',
      type: 'server_error',
    },
  ],
  [
    500,
    { message: "error parsing tool call: raw='{\"a\":}', err=invalid character '}' looking for beginning of value", type: 'api_error' },
  ],
  [400, { message: 'invalid tool call arguments', type: 'invalid_request_error' }],
  [400, { message: "Expecting ',' delimiter: line 1 column 54 (char 53)", type: 'BadRequestError', code: 400 }],
  [400, { message: 'Unterminated string starting at: line 1 column 14 (char 13)' }],
  [400, { message: 'Invalid \\escape: line 1 column 9 (char 8)' }],
  [400, { message: 'Invalid request: messages.70.tool_calls.0.function.arguments: arguments must be a valid JSON object string' }],
  [400, { message: 'The "function.arguments" parameter of the code model must be in JSON format.' }],
  [400, { message: 'Failed to call a function. See failed_generation.', code: 'tool_use_failed' }],
  [422, { message: 'messages.1.content.0.tool_use.input: Input should be a valid dictionary', type: 'invalid_request_error' }],
];

/** How servers that have no 401 say that they do not take a key: xAI, Gemini, and LiteLLM without a database. */
const REFUSED_KEYS: readonly (readonly [string, unknown])[] = [
  [
    'xAI',
    { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: na***ys. You can obtain one at the console.' },
  ],
  ['Gemini', [{ error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } }]],
  ['Gemini', { error: { code: 400, message: 'API key expired. Please renew the API key.', status: 'INVALID_ARGUMENT' } }],
  ['LiteLLM', { error: { message: 'No connected db.', type: 'no_db_connection', param: null, code: '400' } }],
];

describe.each(WIRES)('a refusal over $name', (wire) => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const failureOf = (handler: RawHandler) => modelErrorOf(wire, server, { handler });

  it.each(OVERFLOWS)('with status 400 and $message is Model.ContextOverflow', async (error) => {
    expect(await failureOf(statusOf(400, wire.errorBody(error)))).toMatchObject({ type: 'Model.ContextOverflow' });
  });

  it.each(BAD_JSON_ROWS)('B-13: with status %i and %j is Model.BadJson', async (status, error) => {
    expect(await failureOf(statusOf(status, wire.errorBody(error)))).toMatchObject({ type: 'Model.BadJson', status });
    // some servers put it beside `error`, and some tell it when they have begun to answer
    expect(await failureOf(statusOf(status, error))).toMatchObject({ type: 'Model.BadJson', status });
    const [start = ''] = wire.events({ text: 'Hi.' });
    const { message, type = 'server_error' } = error;
    expect((await failureOf(streamOf(start, wire.errorEvent({ ...error, message, type })))).type).toBe('Model.BadJson');
  });

  it.each(REFUSED_KEYS)('of a key by %s, with status 400 and %j, is Model.Auth: another key may be taken', async (_, body) => {
    expect(await failureOf(statusOf(400, body))).toMatchObject({ type: 'Model.Auth', status: 400 });
  });

  it('within a list of one, as Gemini puts it, is told in its own words', async () => {
    const failure = await failureOf(statusOf(404, [{ error: { code: 404, message: 'models/x is not found.', status: 'NOT_FOUND' } }]));
    expect(failure).toMatchObject({ type: 'Model.NotFound', message: 'models/x is not found.' });
  });

  it('B-14: with a status that says what it is about is what the status says, whatever the text', async () => {
    const message = 'Failed to parse tool call arguments as JSON';
    for (const [status, type] of [
      [401, 'Model.Auth'],
      [429, 'Model.RateLimited'],
      [502, 'Model.Overloaded'],
      [503, 'Model.Overloaded'],
    ] as const) {
      expect((await failureOf(statusOf(status, wire.errorBody({ message })))).type).toBe(type);
    }
  });

  it.each(OUTPUT_ROWS)(
    'by a window that is too small says of "%s" whether a lower output limit may be enough: %s',
    async (message, hint) => {
      expect(await failureOf(statusOf(400, wire.errorBody({ message })))).toMatchObject({ type: 'Model.ContextOverflow', hint });
    },
  );
});
