import type { ContentPart } from '../../../../contracts/schemas/message.js';
import { changesFile } from '../content/file-change.js';
import { durationText } from '../content/format.js';
import { element, setAttributes, setText } from '../dom/element.js';
import type { Part } from '../dom/keyed-list.js';
import type { ShownCall } from '../state/items-of.js';
import type { CallState } from '../state/run-view.js';
import { callNodes, textNodes } from './call-nodes.js';

const STATES: Readonly<Record<CallState, readonly [sign: string, words: string]>> = {
  waiting: ['○', 'waiting'],
  asking: ['?', 'waiting for approval'],
  running: ['◌', 'running'],
  ok: ['✓', 'done'],
  failed: ['✗', 'failed'],
  denied: ['⊘', 'not run'],
  unknown: ['!', 'outcome unknown'],
};

/** A tool call: its title and state, and folded below its arguments or the change that it makes, and its output. */
export class CallPart implements Part<ShownCall> {
  readonly #sign = element('span', { class: 'sign', 'aria-hidden': 'true' });
  readonly #name = element('code', { class: 'tool' });
  readonly #title = element('span', { class: 'title' });
  readonly #state = element('span', { class: 'state' });
  readonly #body = element('div', { class: 'call-body' });
  readonly element = element(
    'details',
    { class: 'call' },
    element('summary', {}, this.#sign, this.#name, this.#title, this.#state),
    this.#body,
  );
  #call: ShownCall | undefined;
  #shown: ShownCall | undefined;

  constructor() {
    this.element.addEventListener('toggle', () => this.#show());
  }

  update(call: ShownCall): void {
    const [sign, words] = STATES[call.state];
    const isNew = this.#call === undefined;
    this.#call = call;
    setAttributes(this.element, { 'data-state': call.state });
    setText(this.#sign, sign);
    setText(this.#name, call.name);
    setText(this.#title, titleOf(call));
    setText(this.#state, call.durationMs === undefined ? words : `${words}, ${durationText(call.durationMs)}`);
    // a change of a file is what a reader looks for
    if (isNew && changesFile(call.name)) this.element.open = true;
    this.#show();
  }

  /** Folded calls have no body. */
  #show(): void {
    const call = this.#call;
    if (!call || !this.element.open || isSame(call, this.#shown)) return;
    this.#shown = call;
    this.#body.replaceChildren(
      ...callNodes(call.name, call.args),
      ...(call.note === undefined ? [] : [element('p', { class: 'note' }, call.note)]),
      ...(call.childRunId === undefined ? [] : [element('p', {}, element('a', { href: runAddress(call.childRunId) }, 'Open its run'))]),
      ...(call.output ?? []).flatMap(outputPart),
    );
  }
}

/** The address of the page of a run. */
export function runAddress(runId: string): string {
  return `/runs/${encodeURIComponent(runId)}`;
}

/** The title, unless it only repeats the name. */
function titleOf({ name, title }: ShownCall): string {
  return title === name.replaceAll('_', ' ') ? '' : title;
}

function isSame(a: ShownCall, b: ShownCall | undefined): boolean {
  return b !== undefined && a.args === b.args && a.output === b.output && a.note === b.note && a.childRunId === b.childRunId;
}

function outputPart(part: ContentPart): Node[] {
  switch (part.type) {
    case 'text':
      return textNodes(part.text, 'Output');
    case 'file':
      return [element('p', { class: 'note' }, `Output: a file (${part.mime}).`)];
    case 'artifact':
      return [...textNodes(part.head, 'Output'), element('p', { class: 'note' }, `The whole output has ${part.bytes} bytes.`)];
  }
}
