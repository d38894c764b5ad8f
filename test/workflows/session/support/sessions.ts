import { randomUUID } from 'node:crypto';
import { afterEach } from 'vitest';
import { AgentClient } from '../../../../src/client/agent-client.js';
import type { SessionHandle } from '../../../../src/client/session-handle.js';
import type { SessionOptions } from '../../../../src/client/sessions/session-input.js';
import type { AgentWorker } from '../../../support/agent-worker.js';

/** Opens sessions of a worker, and ends them with the test. */
export function useSessions(): {
  readonly open: (on: AgentWorker, options?: SessionOptions, key?: string) => Promise<SessionHandle>;
} {
  const opened: { readonly on: AgentWorker; readonly key: string }[] = [];
  afterEach(async () => {
    for (const { on, key } of opened.splice(0))
      await on.client.workflow
        .getHandle(`session/${key}`)
        .terminate()
        .catch(() => undefined);
  });
  return {
    async open(on, options = {}, key = `s-${randomUUID()}`) {
      opened.push({ on, key });
      const client = await AgentClient.connect({ connection: on.client.connection, taskQueue: on.taskQueue });
      return client.session(key, options);
    },
  };
}
