import { textOf, toolCallsOf } from '../../contracts/message-text.js';
import type { Message, ToolCallPart, ToolResultPart } from '../../contracts/schemas/message.js';
import { CHARS_PER_TOKEN } from '../../contracts/text/estimate-tokens.js';
import { toolTitle } from '../../contracts/text/tool-title.js';
import { partsText } from '../../providers/transcript/file-parts.js';

/** The length of a bullet. */
const BULLET_CHARS_MAX = 200;

/** The share of the size for the earlier summary, which is cut at its end. */
const EARLIER_SHARE = 0.6;

/**
 * A summary without a model: the earlier summary, and a bullet for each message and tool result. When not all fit into `tokensMax`, the
 * newest bullets are kept. Never throws.
 */
export function extractiveSummary(messages: readonly Message[], tokensMax: number): string {
  const charsMax = tokensMax * CHARS_PER_TOKEN;
  const summaries = messages.filter(({ origin }) => origin === 'summary').map(textOf);
  const earlier = summaries.join('\n\n').slice(0, Math.floor(charsMax * EARLIER_SHARE));
  const bullets = newest(bulletsOf(messages), charsMax - earlier.length);
  const sections = SECTIONS.map((section) => {
    const lines = bullets.filter((bullet) => bullet.section === section).map(({ text }) => `- ${text}`);
    return lines.length === 0 ? '' : [`## ${section}`, ...lines].join('\n');
  });
  return [earlier, ...sections].filter((text) => text !== '').join('\n\n');
}

/** The sections of a model's summary without `Remaining`, which only a model can write. */
const SECTIONS = ['State', 'Findings', 'Progress'] as const;

interface Bullet {
  readonly section: (typeof SECTIONS)[number];
  readonly text: string;
}

function bulletsOf(messages: readonly Message[]): Bullet[] {
  const calls = new Map(messages.flatMap(toolCallsOf).map((call) => [call.callId, call]));
  return messages.flatMap((message): Bullet[] => {
    switch (message.role) {
      case 'user':
        return message.origin === undefined || message.origin === 'steer' ? bulletOf('State', `The user said: ${textOf(message)}`) : [];
      case 'assistant':
        return bulletOf('Findings', textOf(message));
      case 'tool':
        return message.parts.flatMap((part) => (part.type === 'tool_result' ? resultBullet(calls.get(part.callId), part) : []));
    }
  });
}

function resultBullet(call: ToolCallPart | undefined, result: ToolResultPart): Bullet[] {
  const title = call ? `${toolTitle(call.name, call.args)} (${call.name})` : 'a call';
  return bulletOf('Progress', `${title}: ${result.isError ? 'failed: ' : ''}${partsText(result.parts)}`);
}

function bulletOf(section: Bullet['section'], text: string): Bullet[] {
  const line = text
    .slice(0, 2 * BULLET_CHARS_MAX)
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return line === '' ? [] : [{ section, text: line.length <= BULLET_CHARS_MAX ? line : `${line.slice(0, BULLET_CHARS_MAX - 1)}…` }];
}

/** The newest bullets that fit beside titles and line breaks, in their order. */
function newest(bullets: readonly Bullet[], charsMax: number): Bullet[] {
  let left = charsMax - SECTIONS.join('').length - 8 * SECTIONS.length;
  const from = bullets.findLastIndex(({ text }) => {
    left -= text.length + 3;
    return left < 0;
  });
  return bullets.slice(from + 1);
}
