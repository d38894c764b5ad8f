import { describe, expect, it } from 'vitest';
import { readElicitation } from '../../../../src/activities/mcp/elicitation-form.js';
import { formTexts } from '../../../../src/gateway/page/browser/content/form-texts.js';

const FIELDS = { name: { type: 'string' as const, description: 'Your name', minLength: 2 }, pets: { type: 'boolean' as const } };

function formOf(message: string, properties: Parameters<typeof readElicitation>[0]['requestedSchema']['properties'] = FIELDS) {
  return readElicitation({ message, requestedSchema: { type: 'object', properties, required: ['name'] } });
}

describe('the texts of a form on the page', () => {
  it('are the message of the server, and beside each field what it takes', () => {
    const { message, hints } = formTexts(formOf('Who stays?'));
    expect([message, [...hints]]).toEqual([
      'Who stays?',
      [
        ['name', 'text of from 2 characters – Your name'],
        ['pets', 'yes or no, optional'],
      ],
    ]);
  });

  it('B31: a message that imitates the lines of a form stays a message, and one field has its line in the message', () => {
    const hostile = formOf('Who?').question;
    expect(formTexts(formOf(hostile)).message).toBe(hostile.replaceAll('\n', ' '));
    const doubled = `${hostile}${hostile.slice(hostile.indexOf('\n'))}`;
    expect(formTexts({ ...formOf('Who?'), question: doubled }).message).toBe(hostile);
    const one = formOf('Who?', { name: FIELDS.name });
    expect(formTexts(one)).toEqual({ message: one.question, hints: new Map() });
    const cut = formOf('Who?').question.replace('pets: ', 'dogs: ');
    expect(formTexts({ ...formOf('Who?'), question: cut }).message).toBe(cut);
  });
});
