import type { Channel } from '../../channels/contract/channel.js';

/** How a send fails. `lost`: the platform has the message, and its answer is lost. The others have no effect. */
export type SendFailure = 'rate-limited' | 'refused' | 'unauthorized' | 'lost';

/** A platform, or a local server in its place, with the channel under test. */
export interface TestedPlatform {
  readonly channel: Channel;
  /** A conversation that the platform has, without messages. */
  readonly conversation: string;
  /** The messages of the conversation as people see them, in order. */
  messages(): Promise<readonly ShownMessage[]>;
  /** Makes the next send fail. A rate limit requests a wait of 2 s. */
  failNextSend(failure: SendFailure): Promise<void>;
  /** Texts that no error may contain, such as the key. */
  readonly secrets: readonly string[];
  /** Ends the server. */
  close(): Promise<void>;
}

/** A message as people see it. */
export interface ShownMessage {
  readonly id: string;
  readonly text: string;
  /** True if it notified people who were not meant. @default false */
  readonly notifies?: boolean;
}
