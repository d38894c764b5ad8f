import { Context } from '@temporalio/activity';
import type { AgentActivities } from '../../contracts/activities.js';
import { SESSION_LIMITS } from '../../contracts/constants/limits.js';
import { attemptSignal } from '../runtime/cancellation.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import { hashMessage } from './message-hash.js';
import { type ReadTranscriptOptions, readTranscript } from './read-transcript.js';

/**
 * Makes the activity `copyConversation`: returns the messages of earlier runs of a session, for a run that keeps them itself from now on.
 * Throws `Transcript.Unavailable` when the server no longer has one of these runs.
 */
export function createCopyConversation(transcripts: Pick<ReadTranscriptOptions, 'cache' | 'query'>): AgentActivities['copyConversation'] {
  return (ref) => {
    const startedAt = Date.now();
    const signal = AbortSignal.any([attemptSignal(Context.current()), AbortSignal.timeout(SESSION_LIMITS.copyTimeoutMs)]);
    return withHeartbeat(
      'copyConversation',
      () => ({ phase: `reading ${ref.inherits?.runs ?? 0} earlier runs`, elapsedMs: Date.now() - startedAt }),
      async () => {
        const messages = await readTranscript(ref, { ...transcripts, signal });
        return { messages: messages.map((message) => ({ message, hash: hashMessage(message) })) };
      },
    );
  };
}
