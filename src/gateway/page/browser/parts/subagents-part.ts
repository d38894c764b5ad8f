import type { SubagentProgress } from '../../../../contracts/schemas/run.js';
import { type GatewayApi, isPassing, runPath } from '../api/gateway-api.js';
import type { RunState } from '../api/run-item.js';
import { statusText } from '../content/format.js';
import { element, setAttributes, setText } from '../dom/element.js';
import { KeyedList, type Part } from '../dom/keyed-list.js';
import { runAddress } from './call-part.js';

/** The sub-agents of a run, each with its own below it. Hidden without any. */
export class SubagentsPart {
  readonly #tree: Branch;
  readonly element: HTMLElement;

  constructor(api: GatewayApi) {
    this.#tree = new Branch(api);
    this.element = element(
      'section',
      { 'aria-labelledby': 'subagents-title', hidden: true },
      element('h2', { id: 'subagents-title' }, 'Sub-agents'),
      this.#tree.element,
    );
  }

  update(subagents: readonly SubagentProgress[]): void {
    setAttributes(this.element, { hidden: subagents.length === 0 });
    this.#tree.update(subagents);
  }
}

/** The sub-agents of one run. */
class Branch {
  readonly element = element('ul', { class: 'tree' });
  readonly #list: KeyedList<SubagentProgress>;

  constructor(api: GatewayApi) {
    this.#list = new KeyedList<SubagentProgress>(this.element, { keyOf: ({ runId }) => runId, create: () => new SubagentRow(api) });
  }

  update(subagents: readonly SubagentProgress[]): void {
    this.#list.update(subagents);
  }
}

/** A sub-agent: its run, and once it is opened, its own sub-agents. */
class SubagentRow implements Part<SubagentProgress> {
  readonly #api: GatewayApi;
  readonly #link = element('a');
  readonly #status = element('span', { class: 'badge' });
  readonly #below = element('div');
  readonly #details = element('details', {}, element('summary', {}, 'Its sub-agents'), this.#below);
  readonly element = element('li', {}, this.#link, this.#status, this.#details);
  #runId = '';

  constructor(api: GatewayApi) {
    this.#api = api;
    this.#details.addEventListener('toggle', () => {
      if (this.#details.open) void this.#showBelow();
    });
  }

  update({ runId, agent, reason }: SubagentProgress): void {
    this.#runId = runId;
    setAttributes(this.#link, { href: runAddress(runId) });
    setText(this.#link, agent);
    setText(this.#status, statusText(reason ?? 'running'));
    setAttributes(this.#status, { 'data-status': reason ?? 'running' });
  }

  async #showBelow(): Promise<void> {
    try {
      const { progress } = await this.#api.get<RunState>(runPath(this.#runId));
      const branch = new Branch(this.#api);
      branch.update(progress.subagents ?? []);
      this.#below.replaceChildren(progress.subagents ? branch.element : element('p', { class: 'note' }, 'None.'));
    } catch (error) {
      this.#below.replaceChildren(element('p', { class: 'note' }, isPassing(error) ? 'Not readable now; open it again.' : 'Not readable.'));
    }
  }
}
