import type { PreparedSession, SessionInput } from './session.js';

/** Input of activity `prepareSession`. */
export interface PrepareSessionInput {
  readonly sessionId: string;
  readonly input: SessionInput;
  /** The start of the session, and its first execution. Absent in a history that continues one: the start was checked before. */
  readonly started?: { readonly at: string; readonly executionId: string };
}

/** What was prepared, or why the session cannot be used. */
export type PrepareSessionResult = PreparedSession | { readonly problem: string };

/** Input of activity `checkMessages`, which checks the signatures of messages to a session. */
export interface CheckMessagesInput {
  readonly sessionId: string;
  /** The first execution of the session: a signature counts for one session. */
  readonly executionId: string;
  readonly messages: readonly { readonly id: string; readonly content: string; readonly acceptedAt: number; readonly auth?: unknown }[];
}

/** The messages whose signature does not count, each with a code and a sentence. */
export type CheckMessagesResult = { readonly problems: readonly { readonly id: string; readonly problem: string }[] };
