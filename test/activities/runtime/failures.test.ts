import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { failure, messageOf, modelFailure } from '../../../src/activities/runtime/failures.js';
import { FAILURES, type FailureType } from '../../../src/contracts/failures.js';
import { NO_USAGE } from '../../../src/contracts/models/usage.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';

const RETRYABLE: ReadonlySet<FailureType> = new Set([
  'Model.RateLimited',
  'Model.Overloaded',
  'Model.Timeout',
  'Model.StreamTruncated',
  'Model.StreamIdle',
  'Model.EmptyStream',
  'Model.BadResponse',
  'Model.Unreachable',
  'Worker.DiskFull',
  'Input.McpServer',
]);
// the keys of a constant are its own names
const types = Object.keys(FAILURES) as FailureType[];

describe('the failure table', () => {
  it.each(types)('%s is retried exactly when it may be', (type) => {
    const made = failure(type, 'why');
    expect(made).toMatchObject({ type, message: 'why', nonRetryable: !RETRYABLE.has(type) });
  });

  it('losing a worker is never retried by Temporal: the workflow decides by effect', () => {
    expect(failure('Worker.Died', 'gone').nonRetryable).toBe(true);
    expect(failure('Worker.Shutdown', 'gone').nonRetryable).toBe(true);
  });

  it('L3: a message of 3 MB is cut to what a failure may carry', () => {
    expect(Buffer.byteLength(failure('Model.BadResponse', 'é'.repeat(1_500_000)).message)).toBeLessThanOrEqual(4_096);
    expect(Buffer.byteLength(messageOf(new Error('é'.repeat(1_500_000))))).toBeLessThanOrEqual(4_096);
  });

  it('what looks like a key is not in a message', () => {
    const { message } = failure('Model.Auth', 'Incorrect API key provided: sk-proj-abc123def456. Authorization: Bearer abc.def');
    expect(message).not.toMatch(/abc123|abc\.def/u);
  });
});

describe('modelFailure', () => {
  it.each([
    [100, 500],
    [3_000, 3_000],
    [60_000, 60_000],
  ])('a Retry-After of %d ms is waited for %d ms', (retryAfterMs, nextRetryDelay) => {
    const made = modelFailure(new ModelError('Model.RateLimited', '429', { retryAfterMs }));
    expect(made).toMatchObject({ nonRetryable: false, nextRetryDelay });
  });

  it('M3: one beyond a minute is final, and says how long it is', () => {
    const made = modelFailure(new ModelError('Model.RateLimited', '429', { retryAfterMs: 61_000 }));
    expect(made).toMatchObject({ nonRetryable: true, message: '429 (the server asks to wait 61 s)' });
  });

  it('C-18: an overflow says when a lower output limit may be enough, and only then', () => {
    const made = modelFailure(new ModelError('Model.ContextOverflow', 'too long', { status: 400, hint: 'lower-output' }));
    expect(made).toMatchObject({ nonRetryable: true, details: [{ status: 400, hint: 'lower-output' }] });
    expect(modelFailure(new ModelError('Model.ContextOverflow', 'too long')).details).toEqual([
      { status: null, requestId: null, retryAfterMs: null },
    ]);
  });

  it('a failure that is one already stays as it is but for what was used, and anything else is a bad response that may be asked again', () => {
    const given = ApplicationFailure.create({ type: 'Transcript.Moved', nonRetryable: true });
    expect(modelFailure(given)).toBe(given);
    const used = { ...NO_USAGE, inputTokens: 7 };
    const details = [{ sharedMs: 5 }];
    const charged = modelFailure(
      ApplicationFailure.create({ type: 'Model.Overloaded', message: 'told', nonRetryable: true, details }),
      used,
    );
    expect(charged).toMatchObject({
      type: 'Model.Overloaded',
      message: 'told',
      nonRetryable: true,
      details: [{ sharedMs: 5, usage: used }],
    });
    expect(modelFailure(new TypeError('x is not a function'))).toMatchObject({ type: 'Model.BadResponse', nonRetryable: false });
  });
});
