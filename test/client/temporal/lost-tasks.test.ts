import { ServiceError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { isTaskLost, toPerdureError } from '../../../src/client/temporal/errors.js';

const FAILED_PRECONDITION = 9;
const SUBJECT = { address: '127.0.0.1:1', namespace: 'default', tls: false };
const TEXTS = [
  'Unable to perform workflow execution update due to unexpected workflow task failure.',
  'Unable to perform workflow execution update due to Workflow Task in failed state.',
];

/** The error of a request, as gRPC makes it. */
function grpcError(message: string, details: string): Error {
  return Object.assign(new Error(message), { code: FAILED_PRECONDITION, details, metadata: {} });
}

test.each(TEXTS)('an update that the server refuses since its workers were lost can be sent again: %s', (text) => {
  const ofUpdate = new ServiceError('Workflow Update failed', { cause: grpcError(`9 FAILED_PRECONDITION: ${text}`, text) });
  const ofSend = grpcError(text, 'Update-with-Start could not be executed.');
  for (const error of [ofUpdate, ofSend]) {
    expect(isTaskLost(error)).toBe(true);
    expect(toPerdureError(error, SUBJECT)).toMatchObject({
      code: 'NO_WORKER',
      exitCode: 5,
      message: 'the worker was lost during the request; it may still be accepted; send the request again',
    });
  }
});

test('another refusal of the server is not repeated', () => {
  const error = grpcError('9 FAILED_PRECONDITION: too many updates', 'too many updates');
  expect(isTaskLost(error)).toBe(false);
  expect(toPerdureError(error, SUBJECT)).toMatchObject({ code: 'TEMPORAL_REFUSED', exitCode: 4 });
});
