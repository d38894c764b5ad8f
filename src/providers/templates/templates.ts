import type { ProviderQuirks } from '../../define/provider-quirks.js';
import type { ChatTemplate } from './chat-template.js';
import { GEMMA } from './gemma.js';
import { PLAIN } from './plain.js';
import { QWEN3 } from './qwen3.js';

const TEMPLATES = { qwen3: QWEN3, gemma: GEMMA, plain: PLAIN } as const satisfies Record<
  NonNullable<ProviderQuirks['template']>,
  ChatTemplate
>;

/** A template by its name in the config. */
export function templateOf(name: NonNullable<ProviderQuirks['template']>): ChatTemplate {
  return TEMPLATES[name];
}
