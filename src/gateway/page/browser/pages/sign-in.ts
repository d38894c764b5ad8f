import { GatewayApi } from '../api/gateway-api.js';
import { element, labelled } from '../dom/element.js';
import type { Frame } from './frame.js';

/** Asks for the token of the gateway, until it takes one. Resolves with it. */
export async function askForToken(frame: Frame): Promise<string> {
  frame.setTitle('Sign in');
  const field = element('input', { type: 'password', autocomplete: 'off', required: true, spellcheck: 'false' });
  const form = element(
    'form',
    { class: 'sign-in' },
    element('h1', {}, 'Sign in'),
    element('p', {}, 'Enter the token that ', element('code', {}, 'perdure serve'), ' printed. It is kept until this tab closes.'),
    ...labelled('Token', field, 'token'),
    element('button', { type: 'submit' }, 'Sign in'),
  );
  frame.main.replaceChildren(form);
  field.focus();
  for (;;) {
    const token = await submitted(form, field);
    try {
      // any route with a token proves it
      await new GatewayApi(token).get('/v1/runs?limit=1');
      frame.clearError();
      return token;
    } catch (error) {
      frame.showError(error);
      field.select();
    }
  }
}

/** Resolves with the token of the next submission. */
async function submitted(form: HTMLFormElement, field: HTMLInputElement): Promise<string> {
  return await new Promise((resolve) => {
    const take = (event: Event): void => {
      event.preventDefault();
      resolve(field.value.trim());
    };
    form.addEventListener('submit', take, { once: true });
  });
}
