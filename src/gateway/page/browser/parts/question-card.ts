import type { PendingQuestion, QuestionField } from '../../../../contracts/schemas/question.js';
import { visibleText } from '../../../../contracts/text/sanitize-text.js';
import { button, element, labelled } from '../dom/element.js';
import type { DecisionSender } from './decision-sender.js';

/** A field of a question, with the value that the user gave. */
interface Field {
  readonly nodes: readonly HTMLElement[];
  /** The value, or undefined if it was left out. */
  readonly value: () => unknown;
}

/** A question of the agent, or of an MCP server, with a form for its answer. */
export class QuestionCard {
  readonly element: HTMLElement;
  readonly #sender: DecisionSender;
  readonly #form: HTMLFormElement;

  constructor(question: PendingQuestion, sender: DecisionSender) {
    this.#sender = sender;
    const { callId, askedBy, choices = [], other = true } = question;
    const read = question.fields ? manyFields(question.fields, callId) : oneField(choices, { callId, other });
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
      element('p', { class: 'card-title' }, visibleText(question.question)),
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
    nodes: [...group, ...free],
    answer: () => text.value.trim() || (radios.find(({ radio }) => radio.checked)?.radio.value ?? ''),
  };
}

/** A form whose answer is a JSON object. */
function manyFields(fields: readonly QuestionField[], callId: string): Answer {
  const made = fields.map((field, index) => ({ name: field.name, ...fieldOf(field, `field-${callId}-${index}`) }));
  return {
    nodes: made.flatMap(({ nodes }) => nodes),
    answer: () => {
      const given = made.map(({ name, value }) => [name, value()] as const);
      return JSON.stringify(Object.fromEntries(given.filter(([, value]) => value !== undefined)));
    },
  };
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
