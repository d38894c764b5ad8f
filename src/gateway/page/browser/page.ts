import { ApiError, GatewayApi } from './api/gateway-api.js';
import { forgetToken, storedToken, storeToken } from './api/token.js';
import { Frame } from './pages/frame.js';
import { showList } from './pages/list-page.js';
import { showRun } from './pages/run-page.js';
import { showSession } from './pages/session-page.js';
import { askForToken } from './pages/sign-in.js';

await main();

/** Shows the page of the address, after the user signed in. A token that the gateway no longer takes is asked for again. */
async function main(): Promise<void> {
  for (;;) {
    const token = await signIn();
    const frame = new Frame({ onSignOut: signOut });
    try {
      await showPage(new GatewayApi(token), frame);
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) {
        frame.showError(error);
        return;
      }
      forgetToken();
    }
  }
}

async function signIn(): Promise<string> {
  const known = storedToken();
  if (known !== undefined) return known;
  const token = await askForToken(new Frame());
  storeToken(token);
  return token;
}

function signOut(): void {
  forgetToken();
  location.assign('/');
}

async function showPage(api: GatewayApi, frame: Frame): Promise<void> {
  const [, kind, id = ''] = location.pathname.split('/');
  if (kind === 'runs') await showRun(api, frame, decodeURIComponent(id));
  else if (kind === 'sessions') await showSession(api, frame, decodeURIComponent(id));
  else await showList(api, frame);
}
