import { expect, it } from 'vitest';
import type { SessionHandle } from '../../../src/client/session-handle.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import { awaitRunOf } from '../../../src/gateway/http/chat/chat-run.js';
import type { StreamClient } from '../../../src/gateway/http/events/stream-client.js';

it.each(['NO_WORKER', 'TEMPORAL_UNREACHABLE'])('a message that waits for its run is followed through %s', async (code) => {
  const answers = [
    () => ({ runs: [], queued: [{ id: 'm1' }], dropped: [] }),
    () => {
      throw new PerdureError(code, 'away', 5);
    },
    () => ({ runs: [{ runId: 'k/1', messageIds: ['m1'] }], queued: [], dropped: [] }),
  ];
  // the parts of a session and a client that the wait uses
  const session = { query: () => Promise.resolve().then(() => answers.shift()?.()) } as unknown as SessionHandle;
  const client = { hasLeft: false, pause: () => Promise.resolve() } as unknown as StreamClient;
  expect(await awaitRunOf('m1', session, { client, isOver: () => false })).toMatchObject({ runId: 'k/1' });
});
