import type { Connection } from '../api/follow-events.js';
import { ApiError } from '../api/gateway-api.js';
import { button, element, setAttributes, setText } from '../dom/element.js';

/** Announced texts that the page keeps: one that is replaced before it was read aloud is never heard. */
const ANNOUNCED_MAX = 20;

/** What surrounds each page: the way home, what is announced to screen readers, and the last error. */
export class Frame {
  readonly main = element('main', { id: 'main', tabindex: '-1' });
  readonly #announced = element('div', { class: 'announced', role: 'log', 'aria-label': 'Announcements' });
  readonly #connection = element('p', { class: 'connection', role: 'status' });
  readonly #error = element('p', { role: 'alert' });
  readonly #dismiss = button('Dismiss', () => this.clearError());
  readonly #errorBox = element('div', { class: 'error', hidden: true }, this.#error, this.#dismiss);

  constructor({ onSignOut }: { readonly onSignOut?: () => void } = {}) {
    const home = element('a', { href: '/', class: 'home' }, 'Perdure');
    const signOut = onSignOut ? button('Sign out', onSignOut, { class: 'quiet' }) : undefined;
    const skip = element('a', { href: '#main', class: 'skip' }, 'Skip to content');
    document.body.replaceChildren(
      skip,
      element('header', { class: 'top' }, element('nav', { 'aria-label': 'Site' }, home), this.#connection, signOut),
      this.main,
      this.#errorBox,
      this.#announced,
    );
  }

  /** Announces texts to screen readers, each once. They are not shown. */
  announce(texts: readonly string[]): void {
    this.#announced.append(...texts.map((text) => element('p', {}, text)));
    while (this.#announced.childElementCount > ANNOUNCED_MAX) this.#announced.firstElementChild?.remove();
  }

  /** Names the page in the title of the tab. */
  setTitle(title: string): void {
    document.title = `${title} · Perdure`;
  }

  /** Shows whether events arrive. */
  showConnection(connection: Connection): void {
    setText(this.#connection, connection === 'lost' ? 'Connection lost. Trying again…' : '');
  }

  /** Shows an error, until it is dismissed or another one comes. */
  showError(error: unknown): void {
    setText(this.#error, messageOf(error));
    setAttributes(this.#errorBox, { hidden: false });
  }

  clearError(): void {
    setText(this.#error, '');
    setAttributes(this.#errorBox, { hidden: true });
  }
}

function messageOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
