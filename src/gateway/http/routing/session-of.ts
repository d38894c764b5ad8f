import type { AgentClient } from '../../../client/agent-client.js';
import type { SessionHandle } from '../../../client/session-handle.js';
import { isRunId, isSessionKey } from '../../../contracts/text/ids.js';
import type { Caller } from '../access/caller.js';
import { HttpError } from '../access/http-error.js';

/** The session of a key, which belongs to the tenant of the token. Throws HttpError 404 for a key that no session can have. */
export function sessionOf(client: AgentClient, { tenant }: Caller, key: string, agent?: string): SessionHandle {
  const isKey = tenant === undefined ? isSessionKey(key) : isRunId(key) && isRunId(tenant);
  if (!isKey) throw new HttpError(404, 'NO_SESSION', `no session ${JSON.stringify(key.slice(0, 200))}`);
  return client.session(tenant === undefined ? key : `${tenant}/${key}`, {
    ...(agent === undefined ? {} : { agent }),
    ...(tenant === undefined ? {} : { defaults: { tenant } }),
  });
}
