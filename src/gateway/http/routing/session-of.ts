import type { AgentClient } from '../../../client/agent-client.js';
import type { SessionHandle } from '../../../client/session-handle.js';
import { checkSession } from '../../../client/validate/run-input.js';
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

/**
 * The names by which the runs of a session are found. For a tenant these are the key of its session and the name that its runs may have in
 * their input; the list has only runs of the tenant. Throws `BAD_SESSION_ID` (2).
 */
export function sessionsNamed({ tenant }: Caller, key: string): string | readonly string[] {
  if (tenant === undefined) return key;
  const name = checkSession(key);
  return [name, `${tenant}/${name}`].filter(isSessionKey);
}

/** A run as its client knows it: a client with a tenant knows the keys of its sessions without the name of the tenant. */
export function shownTo<Run extends { readonly session?: string }>({ tenant }: Caller, run: Run): Run {
  const isPrefixed = tenant !== undefined && run.session?.startsWith(`${tenant}/`) === true;
  return isPrefixed ? { ...run, session: run.session.slice(tenant.length + 1) } : run;
}
