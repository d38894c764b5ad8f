import { Conversation } from '../../../src/contracts/schemas/conversation.js';
import { QueueOptions, SessionInput } from '../../../src/contracts/schemas/session.js';
import { DocComments } from './doc-comments.js';
import { interfaceTable, schemaTable } from './field-table.js';
import { markdownTable } from './markdown.js';
import { SCHEMA_NAMES } from './schema-names.js';

const SESSION = new DocComments('contracts/schemas/session.ts');
const names = SCHEMA_NAMES;
const hasDefaults = false;

/** The generated parts of the page about sessions. */
export const SESSION_PARTS: Readonly<Record<string, () => string>> = {
  'session-input': () =>
    schemaTable(SessionInput, { docs: SESSION, declarations: ['SessionInput'] }, { names, types: { defaults: 'fields of `RunInput`' } }),
  'queue-options': () => schemaTable(QueueOptions, { docs: SESSION, declarations: ['QueueOptions'] }, { names }),
  'send-input': () => interfaceTable(SESSION, 'SendInput', { hasDefaults: true }),
  'session-state': () => interfaceTable(SESSION, 'SessionState', { hasDefaults }),
  'session-run': () => interfaceTable(SESSION, 'SessionRun', { hasDefaults }),
  conversation: () =>
    schemaTable(
      Conversation,
      { docs: new DocComments('contracts/schemas/conversation.ts'), declarations: ['Conversation'] },
      { names, hasDefaults },
    ),
  'session-events': () => eventTable(),
};

function eventTable(): string {
  const rows = SESSION.variantsOf('SessionEventBody').map(([type, fields]) => [
    `\`${type}\``,
    fields.map((field) => `\`${field.replace('readonly ', '')}\``).join(', '),
    SESSION.ofVariant('SessionEventBody', type).text,
  ]);
  return markdownTable(['event', 'fields', 'meaning'], rows);
}
