import { setTimeout as delay } from 'node:timers/promises';
import type { AgentClient } from '../../client/agent-client.js';
import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { isRunId } from '../../contracts/text/ids.js';
import type { ChannelOptions } from '../../define/worker/channels.js';
import type { Channel, IncomingMessage } from '../contract/channel.js';
import type { ChannelJournal } from '../journal/channel-journal.js';
import { JournaledState } from '../journal/journaled-state.js';
import { type ChannelSettings, channelSettings } from './channel-settings.js';
import { serveConversation } from './conversation.js';
import { Outbox, type Report } from './outbox.js';

/** Options of `ChannelBridge.open`. */
export interface ChannelBridgeOptions extends ChannelOptions {
  /** Name of the channel: of its sessions, and of `sessions.channels` of the config. Lower-case letters, digits and `-`. */
  readonly name: string;
  readonly channel: Channel;
  /** Its `streams` have the tokens, for `send: "live"`. Close it after the bridge. */
  readonly client: Pick<AgentClient, 'session' | 'get'>;
  /** What the channel remembers over restarts. One bridge uses it at a time. */
  readonly journal: ChannelJournal;
  /** Called with lines for the operator. @default none */
  readonly report?: Report;
}

/**
 * Ties a chat platform to sessions: each conversation is a session, each incoming message is one message of it, and its answers are sent to
 * the conversation in order and once. A bridge that was killed continues where it was, with the same journal.
 */
export class ChannelBridge {
  readonly #options: ChannelBridgeOptions;
  readonly #settings: ChannelSettings;
  readonly #journaled: JournaledState;
  readonly #stop = new AbortController();
  readonly #serving = new Map<string, Promise<void>>();
  /** Messages on their way to their session, by conversation and id. */
  readonly #passing = new Map<string, Promise<void>>();

  private constructor(options: ChannelBridgeOptions, journaled: JournaledState) {
    this.#options = options;
    this.#settings = channelSettings(options, options.channel.abilities.textCharsMax);
    this.#journaled = journaled;
  }

  /** Opens a bridge, and continues the conversations of the one before. Throws `BAD_OPTION` (2), and as the journal does. */
  static async open(options: ChannelBridgeOptions): Promise<ChannelBridge> {
    const { name } = options;
    if (!/^[a-z][a-z0-9-]*$/u.test(name) || name.length > CHANNEL_LIMITS.nameCharsMax)
      throw new PerdureError('BAD_OPTION', `channel: use a lower-case letter, then letters, digits or -, got ${echoValue(name)}`, 2);
    const bridge = new ChannelBridge(options, await JournaledState.open(options.journal));
    for (const conversation of bridge.#journaled.state.open) bridge.#serve(conversation);
    return bridge;
  }

  /** The number of conversations with messages that are not answered. */
  get openConversations(): number {
    return this.#serving.size;
  }

  /**
   * Passes a message to the session of its conversation. Once it resolves, the message is answered or reported, whatever dies. A message that
   * was passed before has no effect. Throws `BAD_MESSAGE` (2), and as `SessionHandle.message` does: the platform must then send it again. If it
   * does not, a message that the session did not get is reported after 10 minutes.
   */
  async receive(message: IncomingMessage): Promise<void> {
    this.#stop.signal.throwIfAborted();
    const { conversation, id } = message;
    if (!isRunId(id) || !isRunId(`${this.#options.name}:${conversation}`))
      throw new PerdureError('BAD_MESSAGE', `message ${echoValue(id)} of ${echoValue(conversation)}: an id cannot be used`, 2);
    const key = JSON.stringify([conversation, id]);
    const passed = this.#passing.get(key) ?? this.#pass(message).finally(() => this.#passing.delete(key));
    this.#passing.set(key, passed);
    await passed;
  }

  /** Stops. What is not sent yet is sent by the next bridge with this journal. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled([...this.#serving.values(), ...this.#passing.values()]);
    await this.#journaled.close();
  }

  async #pass({ conversation, id, text }: IncomingMessage): Promise<void> {
    const { state } = this.#journaled;
    if (state.isSettled(conversation, id)) return;
    const isNew = !state.openIn(conversation).has(id);
    // also a repeated one: it counts as missing only some time after its last attempt
    await this.#journaled.add({ type: 'received', conversation, id, at: Date.now() });
    try {
      await this.#session(conversation).message({ id, text: text.slice(0, CHANNEL_LIMITS.textCharsMax) });
    } catch (error) {
      // after any other error, or an earlier attempt, the session may have it: only the session can tell
      if (isNew && cannotHaveArrived(error)) await this.#journaled.add({ type: 'withdrawn', conversation, id });
      else this.#serve(conversation);
      throw error;
    }
    this.#serve(conversation);
  }

  #session(conversation: string): ReturnType<AgentClient['session']> {
    const { name, client, agent } = this.#options;
    return client.session(`${name}:${conversation}`, {
      channel: name,
      ...(agent === undefined ? {} : { agent }),
      defaults: { context: { channel: name } },
    });
  }

  #serve(conversation: string): void {
    if (this.#serving.has(conversation) || this.#stop.signal.aborted) return;
    const served = this.#serveAgain(conversation).finally(() => {
      this.#serving.delete(conversation);
      // a message may have come after the last look
      if (this.#journaled.state.openIn(conversation).size > 0) this.#serve(conversation);
    });
    this.#serving.set(conversation, served);
  }

  /** Serves a conversation, again after an error. Never rejects. */
  async #serveAgain(conversation: string): Promise<void> {
    const { name, channel, client, report = ignore } = this.#options;
    const { signal } = this.#stop;
    const outbox = new Outbox({ name, channel, journaled: this.#journaled, pause: this.#settings.pause, report, signal });
    while (!signal.aborted) {
      try {
        return await serveConversation({
          conversation,
          session: this.#session(conversation),
          runOf: (runId) => client.get(runId),
          journaled: this.#journaled,
          outbox,
          settings: this.#settings,
          typing: async () => await channel.typing?.(conversation, signal).catch(ignore),
          report,
          signal,
        });
      } catch (error) {
        if (signal.aborted) return;
        report(`CHANNEL_FAILED: channel ${name}, conversation ${conversation}: ${String(error)}`);
        await delay(CHANNEL_LIMITS.retryMsMax, undefined, { signal }).catch(ignore);
      }
    }
  }
}

/** True for an error of a message that was not sent, or that the server refused. */
function cannotHaveArrived(error: unknown): boolean {
  return error instanceof PerdureError && (error.exitCode === 2 || REFUSALS.has(error.code));
}

const REFUSALS: ReadonlySet<string> = new Set(['TEMPORAL_DENIED', 'NAMESPACE_NOT_FOUND', 'SIGNAL_LIMIT']);

function ignore(): void {
  // a typing indicator that is not shown changes nothing
}
