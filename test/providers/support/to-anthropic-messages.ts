import type { Message } from '../../../src/contracts/schemas/message.js';
import { type AnthropicMessage, AnthropicMessages } from '../../../src/providers/anthropic/messages.js';
import { PrefixDigest } from '../../../src/providers/transcript/prefix-digest.js';
import { toolNames } from '../../../src/providers/transcript/tool-names.js';

/** A transcript as one request sends it, before its marks. */
export function toAnthropicMessages(messages: readonly Message[], model = 'test-model'): readonly AnthropicMessage[] {
  return new AnthropicMessages({ model, names: toolNames([]), prefix: new PrefixDigest() }).add(messages).written;
}
