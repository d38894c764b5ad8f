import { FAILURES } from '../../contracts/failures.js';
import { objectOf } from '../contract/json-object.js';
import { ModelError, type ModelFailureType } from '../contract/model-error.js';
import { errorIn, toModelError } from '../errors/classify-error.js';
import { requestIdIn } from '../http/response-headers.js';

/** The failure that a refused response means. Never rejects. */
export async function refusedResponse(response: Response): Promise<ModelError> {
  const { status, headers } = response;
  const body = await response.text().catch(() => '');
  const told = errorIn(body) ?? objectOf(body);
  const requestId = requestIdIn(headers);
  return toModelError({
    status,
    message: `status ${status}`,
    headers,
    ...(told ? { error: told } : {}),
    ...(requestId === undefined ? {} : { requestID: requestId }),
  });
}

/** What a wire format of a config threw, as a ModelError. Never throws. Of another error, only its message is kept. */
export function customError(error: unknown, name: string): ModelError {
  if (error instanceof ModelError) return error;
  const { type, message } = fieldsOf(error);
  // the class of another copy of this package
  if (fieldsOf(error)['name'] === 'ModelError' && isModelFailure(type)) return new ModelError(type, String(message));
  const isOwnMistake = error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError;
  if (isOwnMistake && fieldsOf(error)['cause'] === undefined)
    return new ModelError('Model.BadResponse', `the wire format ${name} failed: ${String(message)}`);
  return toModelError(error);
}

function isModelFailure(type: unknown): type is ModelFailureType {
  return typeof type === 'string' && type.startsWith('Model.') && Object.hasOwn(FAILURES, type);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
