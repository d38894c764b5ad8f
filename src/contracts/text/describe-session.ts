import type { SessionInput } from '../schemas/session.js';
import { escapeMarkdown } from './sanitize-text.js';

/** What lists and the Web UI show of a session. */
export function describeSession({ key, agent = 'default', channel, defaults }: SessionInput): {
  readonly memo: Record<string, unknown>;
  readonly staticSummary: string;
  readonly staticDetails: string;
} {
  const facts = [
    ['agent', agent],
    ['channel', channel],
    ['model', defaults?.model],
    ['workspace', defaults?.context?.workspace],
    ['tenant', defaults?.tenant],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${escapeMarkdown(value)}`]));
  const advice =
    'Query `session` shows its active run, its queue and its last runs. Update `send` and signal `message` send a message, update `unsend` ' +
    'withdraws one. Each run is a child with its own signals and updates.';
  return {
    memo: { key, agent, ...(defaults?.tenant === undefined ? {} : { tenant: defaults.tenant }) },
    staticSummary: `**session ${escapeMarkdown(key)}** ${escapeMarkdown(agent)}`,
    staticDetails: [...facts, '', advice].join('\n'),
  };
}
