import { CHARS_PER_TOKEN } from '../contracts/estimate-tokens.js';
import { type Message, type ToolCallPart, textOf, toolCallsOf } from '../contracts/message.js';
import { toolTitle } from '../contracts/tool-title.js';
import { partsText } from './providers/parts-text.js';

/** What a bullet tells of its message. */
const BULLET_CHARS_MAX = 200;

/** The earlier summary may take this share; what it cannot have is cut at its end. */
const EARLIER_SHARE = 0.6;

/**
 * A summary without a model: what an earlier summary said, and a bullet for each thing that was said, done or asked. The newest bullets
 * are kept when not all fit into `tokensMax`. Never throws.
 */
export function extractiveSummary(messages: readonly Message[], tokensMax: number): string {
  const charsMax = tokensMax * CHARS_PER_TOKEN;
  const summaries = messages.filter(({ origin }) => origin === 'summary').map(textOf);
  const earlier = summaries.join('\n\n').slice(0, Math.floor(charsMax * EARLIER_SHARE));
  const told = newest(bulletsOf(messages.filter(({ origin }) => origin !== 'summary')), charsMax - earlier.length);
  const sections = TITLES.map(([title, key]) =>
    sectionOf(
      title,
      told.filter(({ section }) => section === key),
    ),
  );
  return [earlier, ...sections].filter((text) => text !== '').join('\n\n');
}

const TITLES = [
  ['Findings', 'findings'],
  ['Progress', 'progress'],
  ['Asked by the user', 'asked'],
] as const;

interface Bullet {
  readonly section: (typeof TITLES)[number][1];
  readonly text: string;
}

function sectionOf(title: string, bullets: readonly Bullet[]): string {
  return bullets.length === 0 ? '' : [`## ${title}`, ...bullets.map(({ text }) => `- ${text}`)].join('\n');
}

function bulletsOf(messages: readonly Message[]): Bullet[] {
  const calls = new Map(messages.flatMap(toolCallsOf).map((call) => [call.callId, call]));
  return messages.flatMap((message): Bullet[] => {
    switch (message.role) {
      case 'user':
        return bullet(message.origin === undefined || message.origin === 'steer' ? 'asked' : 'findings', textOf(message));
      case 'assistant':
        return bullet('findings', textOf(message));
      case 'tool':
        return message.parts.flatMap((part) => (part.type === 'tool_result' ? doneBullet(calls.get(part.callId), part) : []));
    }
  });
}

function doneBullet(call: ToolCallPart | undefined, result: Extract<Message['parts'][number], { type: 'tool_result' }>): Bullet[] {
  const title = call ? `${toolTitle(call.name, call.args)} (${call.name})` : 'a call';
  return bullet('progress', `${title}: ${result.isError ? 'failed: ' : ''}${partsText(result.parts)}`);
}

function bullet(section: Bullet['section'], text: string): Bullet[] {
  const line = text
    .slice(0, 2 * BULLET_CHARS_MAX)
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return line === '' ? [] : [{ section, text: line.length <= BULLET_CHARS_MAX ? line : `${line.slice(0, BULLET_CHARS_MAX - 1)}…` }];
}

/** The newest bullets that fit, in their order; titles and breaks take some room too. */
function newest(bullets: readonly Bullet[], charsMax: number): Bullet[] {
  let left = charsMax - TITLES.reduce((sum, [title]) => sum + title.length + 8, 0);
  const from = bullets.findLastIndex(({ text }) => {
    left -= text.length + 3;
    return left < 0;
  });
  return bullets.slice(from + 1);
}
