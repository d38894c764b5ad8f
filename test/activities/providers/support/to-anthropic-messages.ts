import { type AnthropicMessage, AnthropicMessages } from '../../../../src/activities/providers/anthropic-messages.js';
import { PrefixDigest } from '../../../../src/activities/providers/prefix-digest.js';
import { toolNames } from '../../../../src/activities/providers/tool-names.js';
import type { Message } from '../../../../src/contracts/schemas/message.js';

/** A transcript as one request sends it, before its marks. */
export function toAnthropicMessages(messages: readonly Message[], model = 'test-model'): readonly AnthropicMessage[] {
  return new AnthropicMessages({ model, names: toolNames([]), prefix: new PrefixDigest() }).add(messages).written;
}
