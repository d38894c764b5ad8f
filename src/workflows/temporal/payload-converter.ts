import { type ConverterHint, DefaultPayloadConverter, type Payload, type SerializationContext } from '@temporalio/common';
import { unreadable } from '../../contracts/verbs/unreadable.js';

/**
 * The SDK's converter, for workflow code. A payload that a client sent and that cannot be decoded becomes a value that says why: the
 * handler refuses it. Thrown here, the error would fail the workflow task again and again, and the run would hang for ever. The result
 * of an activity still throws, because only a worker wrote it: another worker may be able to read it.
 */
class ClientPayloadConverter extends DefaultPayloadConverter {
  override fromPayload<T>(payload: Payload, context?: SerializationContext, hint?: ConverterHint<T>): T {
    try {
      return super.fromPayload<T>(payload, context, hint);
    } catch (error) {
      if (context?.type === 'activity') throw error;
      // the handlers check their input before they use it
      return unreadable(firstLine(error)) as T;
    }
  }
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 200).toWellFormed();
}

/** The name under which the SDK's bundler looks for it. */
export const payloadConverter = new ClientPayloadConverter();
