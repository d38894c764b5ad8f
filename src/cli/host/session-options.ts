import type { SessionOptions } from '../../client/sessions/session-input.js';
import { type InputOptions, startFromOptions } from './run-options.js';
import type { PlaceOptions } from './workplace.js';

/** The options of the commands that start a session. They count for its first message. */
export interface SessionStartOptions extends PlaceOptions, InputOptions {
  readonly session?: string;
  readonly agent?: string;
  readonly workspace?: string;
  readonly iKnow?: boolean;
  readonly tenant?: string;
}

/** Converts options to those of a session, with the errors of `run`. */
export async function sessionFromOptions(given: SessionStartOptions): Promise<SessionOptions> {
  const { session: _session, ...options } = given;
  const { input } = await startFromOptions('x', { ...options, worker: true });
  const { v: _v, task: _task, agent, messages: _messages, continuedFrom: _continued, auth: _auth, ...rest } = input;
  const { session: _of, parent: _parent, inherits: _inherits, ...defaults } = rest;
  return { ...(agent === undefined ? {} : { agent }), ...(Object.keys(defaults).length === 0 ? {} : { defaults }) };
}
