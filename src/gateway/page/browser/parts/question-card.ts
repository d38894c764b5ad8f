import type { PendingQuestion, QuestionField } from '../../../../contracts/schemas/question.js';
import { visibleText } from '../../../../contracts/text/sanitize-text.js';
import { formTexts } from '../content/form-texts.js';
import { button, element, labelled } from '../dom/element.js';
import type { DecisionSender } from './decision-sender.js';

/** A field of a question, with the value that the user gave. */
interface Field {
  readonly nodes: readonly [label: HTMLElement, field: HTMLElement];
  /** The value, or undefined if it was left out. */
  readonly value: () => string | number | boolean | string[] | undefined;
}

/** A question of the agent, or of an MCP server, with a form for its answer. */
export class QuestionCard {
  readonly element: HTMLElement;
  readonly #sender: DecisionSender;
  readonly #form: HTMLFormElement;

  constructor(question: PendingQuestion, sender: DecisionSender) {
    this.#sender = sender;
    const { callId, askedBy, choices = [], other = true } = question;
    const { message, hints } = formTexts(question);
    const read = question.fields ? formFields(question.fields, { callId, hints }) : oneField(choices, { callId, other });
    const titleId = `question-${callId}`;
    this.#form = element(
      'form',
      {},
      ...read.nodes,
      element(
        'div',
        { class: 'card-actions' },
        element('button', { type: 'submit', class: 'primary' }, 'Answer'),
        button('Decline', () => void this.#send(() => sender.decline(callId))),
      ),
    );
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#send(() => sender.answer(callId, read.answer()));
    });
    this.element = element(
      'article',
      { class: 'card', 'aria-labelledby': titleId },
      element('h3', { id: titleId }, `Question of ${visibleText(askedBy)}`),
      element('p', { class: 'card-title' }, visibleText(message)),
      this.#form,
    );
  }

  async #send(send: () => Promise<void>): Promise<void> {
    const buttons = this.#form.querySelectorAll('button');
    for (const each of buttons) each.disabled = true;
    try {
      await send();
      this.#sender.onDecided();
    } catch (error) {
      for (const each of buttons) each.disabled = false;
      this.#sender.onError(error);
    }
  }
}

interface Answer {
  readonly nodes: readonly HTMLElement[];
  readonly answer: () => string;
}

/** Choices as radio buttons, and a text for any other answer. */
function oneField(choices: readonly string[], { callId, other }: { readonly callId: string; readonly other: boolean }): Answer {
  const radios = choices.map((choice, index) => {
    const radio = element('input', { type: 'radio', name: `choice-${callId}`, value: choice, required: !other });
    const [label] = labelled(visibleText(choice), radio, `choice-${callId}-${index}`);
    return { radio, row: element('div', { class: 'choice' }, radio, label) };
  });
  const group =
    radios.length === 0 ? [] : [element('fieldset', {}, element('legend', {}, 'Choose an answer'), ...radios.map(({ row }) => row))];
  const text = element('input', { type: 'text', autocomplete: 'off', required: choices.length === 0 });
  const free =
    other || choices.length === 0 ? labelled(choices.length === 0 ? 'Your answer' : 'Another answer', text, `answer-${callId}`) : [];
  return {
    nodes: [...group, ...(free.length === 0 ? [] : [element('div', { class: 'field' }, ...free)])],
    answer: () => text.value.trim() || (radios.find(({ radio }) => radio.checked)?.radio.value ?? ''),
  };
}

/** A form. The answer to several fields is a JSON object, that to one is its value. */
function formFields(
  fields: readonly QuestionField[],
  { callId, hints }: { readonly callId: string; readonly hints: ReadonlyMap<string, string> },
): Answer {
  const made = fields.map((field, index) => {
    const id = `field-${callId}-${index}`;
    const { nodes, value } = fieldOf(field, id);
    const hint = hints.get(field.name);
    return { name: field.name, value, node: fieldRow(nodes, { hint, id: `${id}-hint`, isBox: field.kind === 'boolean' }) };
  });
  const [only, ...others] = made;
  return {
    nodes: made.map(({ node }) => node),
    answer: () => {
      if (only && others.length === 0) return textOf(only.value());
      const given = made.map(({ name, value }) => [name, value()] as const);
      return JSON.stringify(Object.fromEntries(given.filter(([, value]) => value !== undefined)));
    },
  };
}

function textOf(value: ReturnType<Field['value']>): string {
  return Array.isArray(value) ? value.join(',') : String(value ?? '');
}

/** A label, its field, and below what the field takes. A box stands before its label. */
function fieldRow(
  [label, field]: Field['nodes'],
  { hint, id, isBox }: { readonly hint: string | undefined; readonly id: string; readonly isBox: boolean },
): HTMLElement {
  if (hint !== undefined) field.setAttribute('aria-describedby', id);
  const pair = isBox ? [element('div', { class: 'choice' }, field, label)] : [label, field];
  return element(
    'div',
    { class: 'field' },
    ...pair,
    hint === undefined ? undefined : element('p', { id, class: 'hint' }, visibleText(hint)),
  );
}

function fieldOf({ name, kind, required, choices = [], format, min, max }: QuestionField, id: string): Field {
  const label = visibleText(name);
  switch (kind) {
    case 'boolean': {
      const box = element('input', { type: 'checkbox' });
      return { nodes: labelled(label, box, id), value: () => box.checked };
    }
    case 'choice':
    case 'choices': {
      const select = element('select', { multiple: kind === 'choices', required });
      const empty = kind === 'choice' && !required ? [element('option', { value: '' }, '–')] : [];
      select.append(...empty, ...choices.map((choice) => element('option', { value: choice }, visibleText(choice))));
      const chosen = (): string[] => [...select.selectedOptions].map(({ value }) => value).filter((value) => value !== '');
      return { nodes: labelled(label, select, id), value: () => (kind === 'choices' ? chosen() : chosen()[0]) };
    }
    case 'number':
    case 'integer': {
      const limits = { min: min === undefined ? undefined : String(min), max: max === undefined ? undefined : String(max) };
      const input = element('input', { type: 'number', step: kind === 'integer' ? '1' : 'any', required, ...limits });
      return { nodes: labelled(label, input, id), value: () => (input.value === '' ? undefined : input.valueAsNumber) };
    }
    case 'text': {
      const input = element('input', { type: format === 'email' ? 'email' : format === 'date' ? 'date' : 'text', required });
      return { nodes: labelled(label, input, id), value: () => (input.value === '' ? undefined : input.value) };
    }
  }
}
