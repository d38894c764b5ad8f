import { partsText } from '../transcript/file-parts.js';
import { sentArguments } from '../transcript/parse-arguments.js';
import { type ChatTemplate, spacedJson, templateTurns } from './chat-template.js';

const SPEAKERS = { user: 'User', assistant: 'Assistant' } as const;

/** Models without a template of their own: who speaks stands before each turn. They cannot be told of tools; what other models called is told. */
export const PLAIN: ChatTemplate = {
  name: 'plain',
  toolWords: {
    call: (call) => `[called ${call.name} ${spacedJson(sentArguments(call))}]`,
    results: (results) => results.map(({ parts }) => `[it gave]\n${partsText(parts)}`).join('\n'),
  },
  markup: { marks: [], stops: ['\nUser:', '\nAssistant:'] },
  render: ({ prompt, messages }) => {
    const system = prompt.trim() === '' ? [] : [safe(prompt)];
    const turns = templateTurns(messages).map(({ role, text }) => `${SPEAKERS[role]}: ${safe(text)}`);
    return `${[...system, ...turns].join('\n\n')}\n\nAssistant:`;
  },
};

function safe(text: string): string {
  return text.trim().replaceAll(/^(?=(?:User|Assistant):)/gmu, ' ');
}
