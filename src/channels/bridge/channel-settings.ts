import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';
import type { ChannelOptions } from '../../define/worker/channels.js';
import type { BlockPause } from '../blocks/block-pause.js';
import type { BlockSizes } from '../blocks/split-blocks.js';
import type { ThinkingMode } from '../reply/read-reply.js';

/** The options of a channel, complete. */
export interface ChannelSettings {
  readonly send: 'live' | 'answers' | 'final';
  readonly sizes: BlockSizes;
  readonly idleMs: number;
  readonly pause: BlockPause;
  readonly thinking: ThinkingMode;
  readonly silentToken: string;
}

/** Completes the options of a channel. Blocks fit into the messages of the platform. */
export function channelSettings(
  { send = 'live', blocks = {}, pause, thinking = 'suppressed', silentToken = SILENT_TOKEN }: ChannelOptions,
  textCharsMax: number,
): ChannelSettings {
  const charsMax = Math.min(blocks.charsMax ?? CHANNEL_LIMITS.blockCharsMaxDefault, textCharsMax);
  const charsMin = Math.min(blocks.charsMin ?? CHANNEL_LIMITS.blockCharsMinDefault, charsMax);
  return {
    send,
    sizes: { charsMin, charsMax },
    idleMs: blocks.idleMs ?? CHANNEL_LIMITS.idleMsDefault,
    pause: pause ?? { minMs: 0, maxMs: 0 },
    thinking,
    silentToken,
  };
}

const SILENT_TOKEN = 'NO_REPLY';
