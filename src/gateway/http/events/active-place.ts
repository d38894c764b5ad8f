import type { SessionHandle } from '../../../client/session-handle.js';
import { executionOf, type SessionCursor } from './session-cursor.js';

/**
 * The place before the active run of a session, or behind all events of an idle one. For clients that read what has ended from the
 * transcripts. Throws as `SessionHandle.events` does.
 */
export async function activePlace(session: Pick<SessionHandle, 'events'>): Promise<SessionCursor> {
  let end = 0;
  let execution: string | undefined;
  let active: { readonly runId: string; readonly seq: number } | undefined;
  for (let after = 0; ; ) {
    const page = await session.events({ after });
    const { events, next } = page;
    execution = executionOf(page, execution);
    for (const event of events) {
      end = event.seq;
      if (event.type === 'session.run.started') active = event;
      else if (event.type === 'session.run.ended' && event.runId === active?.runId) active = undefined;
    }
    if (events.length === 0 || next <= after) break;
    after = next;
  }
  return { event: active ? active.seq - 1 : end, ...(execution === undefined ? {} : { execution }) };
}
