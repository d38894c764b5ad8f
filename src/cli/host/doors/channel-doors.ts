import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ChannelBridge } from '../../../channels/bridge/channel-bridge.js';
import { FileJournal } from '../../../channels/journal/file-journal.js';
import { SlackChannel } from '../../../channels/slack/slack-channel.js';
import { type Webhook as Receive, slackWebhook } from '../../../channels/slack/slack-webhook.js';
import { CHANNEL_LIMITS } from '../../../contracts/constants/limits.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import type { SlackChannelDefinition } from '../../../define/worker/channels.js';
import type { Webhook } from '../../../gateway/http/webhooks/mount-webhooks.js';
import type { LoadedConfig } from '../../../worker/config/load-config.js';
import { acquireFolderLock } from '../../../worker/state-folder/folder-lock.js';
import type { Place } from '../workplace.js';

/** The channels of a config, as the gateway and the command need them. */
export interface ChannelDoors {
  readonly webhooks: readonly Webhook[];
  /** Stops the bridges. What was not sent is sent by the next process. */
  close(): Promise<void>;
}

/** Options of `openChannelDoors`. */
export interface ChannelDoorsOptions {
  readonly config: LoadedConfig;
  readonly place: Place;
  readonly say: (line: string) => void;
  /** Wait after channels that could not be opened. @default 30 s */
  readonly retryMs?: number;
}

/**
 * Ties the channels of a config to their sessions. One process of a state folder serves them at a time: another one waits, and its webhooks
 * answer 503 meanwhile, so that the platform sends an event again. If a channel cannot be opened, another process may serve them, and this one
 * tries again after 30 s. Throws `SECRET_MISSING` (2) for a key without a value.
 */
export function openChannelDoors({ config, place, say, retryMs = CHANNEL_LIMITS.retryMsMax }: ChannelDoorsOptions): ChannelDoors {
  const definitions = Object.entries(config.config.channels ?? {});
  const secretOf = (reference: string): string => {
    const value = config.keys.resolve(reference);
    if (value === undefined) throw new PerdureError('SECRET_MISSING', config.keys.problem(reference) ?? `${reference} has no value`, 2);
    return value;
  };
  // an error of the start, not of the first message
  for (const [, { signingSecret, botToken }] of definitions) for (const reference of [signingSecret, botToken]) secretOf(reference);
  if (definitions.length === 0) return { webhooks: [], close: () => Promise.resolve() };
  const stop = new AbortController();
  const folder = join(place.stateDir, 'channels');
  const bridges = new Map<string, ChannelBridge>();
  const closeBridges = async (): Promise<void> => {
    const opened = [...bridges.values()];
    bridges.clear();
    await Promise.all(opened.map((bridge) => bridge.close()));
  };
  const open = async (): Promise<() => Promise<void>> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const lock = await acquireFolderLock(join(folder, 'lock'), {
      note: {},
      signal: stop.signal,
      pollMsMax: LOCK_POLL_MS_MAX,
      onWait: (pid) => say(`the channels of this folder are served by process ${pid}; this process takes over when it exits`),
    });
    try {
      for (const [name, definition] of definitions) {
        bridges.set(name, await openBridge({ name, definition, folder, secretOf, place, say }));
      }
    } catch (error) {
      await closeBridges();
      await lock.release();
      throw error;
    }
    say(`channels: ${definitions.map(([name]) => `${name} at /channels/${name}`).join(', ')}`);
    return () => lock.release();
  };
  const openAgain = async (): Promise<() => Promise<void>> => {
    while (!stop.signal.aborted) {
      try {
        return await open();
      } catch (error) {
        if (stop.signal.aborted) break;
        say(`CHANNELS: the channels cannot be served, and are tried again after ${retryMs / 1_000} s: ${String(error)}`);
        await delay(retryMs, undefined, { signal: stop.signal }).catch(ignoreStop);
      }
    }
    return () => Promise.resolve();
  };
  const opening = openAgain();
  return {
    webhooks: definitions.map(([name, definition]) => ({
      name,
      receive: receiver(definition, { secretOf, bridge: () => bridges.get(name) }),
    })),
    async close() {
      stop.abort();
      const release = await opening;
      await closeBridges();
      await release();
    },
  };
}

const LOCK_POLL_MS_MAX = 1_000;

function ignoreStop(): void {
  // the loop ends with its signal
}

interface OpenedBridge extends Pick<ChannelDoorsOptions, 'place' | 'say'> {
  readonly name: string;
  readonly definition: SlackChannelDefinition;
  readonly folder: string;
  readonly secretOf: (reference: string) => string;
}

async function openBridge({ name, definition, folder, secretOf, place, say }: OpenedBridge): Promise<ChannelBridge> {
  const { botToken, apiUrl } = definition;
  return await ChannelBridge.open({
    ...definition,
    name,
    channel: new SlackChannel({ token: () => secretOf(botToken), ...(apiUrl === undefined ? {} : { apiUrl }) }),
    client: place.client,
    journal: new FileJournal(join(folder, `${name}.jsonl`), () => say(`CHANNEL_JOURNAL: channel ${name}: a damaged record was ignored`)),
    report: say,
  });
}

function receiver(
  { signingSecret, session, respondTo, users }: SlackChannelDefinition,
  { secretOf, bridge }: { readonly secretOf: (reference: string) => string; readonly bridge: () => ChannelBridge | undefined },
): Receive {
  return slackWebhook({
    signingSecret: () => secretOf(signingSecret),
    receive: async (message) => {
      const opened = bridge();
      if (!opened) throw new PerdureError('NOT_SERVED', 'the channel is not served by this process yet', 5);
      await opened.receive(message);
    },
    ...(session === undefined ? {} : { session }),
    ...(respondTo === undefined ? {} : { respondTo }),
    ...(users === undefined ? {} : { users }),
  });
}
