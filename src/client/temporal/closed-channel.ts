import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;
type Start = Parameters<Call['start']>;
type Status = Parameters<NonNullable<NonNullable<Start[1]>['onReceiveStatus']>>[0];

/** What gRPC throws for a request on a closed channel. It has no class or code of its own. */
const CLOSED = 'Channel has been shut down';

/** The status of a request that its client ended: CANCELLED of gRPC. */
const REFUSED: unknown = { code: 1, details: 'the connection was closed' };

/**
 * The interceptors of a connection: the retries of the SDK, on a channel that may be closed.
 *
 * Reason: the SDK sends a failed request again from a timer. If the connection was closed meanwhile, gRPC throws there, where no code can
 * catch it: the process ends, or the request never does.
 */
export function retriesUntilClosed(): Interceptor[] {
  return [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), refuseWhenClosed];
}

/** A request on a closed channel fails like one that was cancelled. It is not sent again. */
const refuseWhenClosed: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as Call;
  } catch (error) {
    if (!(error instanceof Error && error.message === CLOSED)) throw error;
    return new RefusedCall() as unknown as Call;
  }
};

/** A call that ends when it starts, and takes the rest of a request without effect. */
class RefusedCall {
  start(metadata: Start[0], listener?: Start[1]): void {
    // not at once: the caller sends the message after the start
    setImmediate(() => {
      listener?.onReceiveMessage?.(null);
      listener?.onReceiveStatus?.({ ...(REFUSED as Status), metadata });
    });
  }

  sendMessage(): void {}

  sendMessageWithContext(): void {}

  startRead(): void {}

  halfClose(): void {}

  cancelWithStatus(): void {}

  getPeer(): string {
    return 'closed';
  }

  getAuthContext(): null {
    return null;
  }
}
