import { readPageFiles } from '../../page/page-files.js';
import { HttpError } from '../access/http-error.js';
import { type Answer, defineRoute, type Route } from '../routing/route.js';

const SHELL = [{ status: 200, meaning: 'the page, without data', contentType: 'text/html' }] as const;

/** The addresses of the page. Its script reads the address, so each of them is the same document. */
const PAGES: readonly Route[] = [
  defineRoute({ method: 'GET', path: '/', right: 'none', summary: 'show runs and sessions in a browser', answers: SHELL, run: shell }),
  defineRoute({ method: 'GET', path: '/runs/{id}', right: 'none', summary: 'show a run in a browser', answers: SHELL, run: shell }),
  defineRoute({
    method: 'GET',
    path: '/sessions/{key}',
    right: 'none',
    summary: 'show a session in a browser',
    answers: SHELL,
    run: shell,
  }),
];

/** `GET /assets/{name}`: a file of the page. */
const readAsset = defineRoute({
  method: 'GET',
  path: '/assets/{name}',
  right: 'none',
  summary: 'load a file of the page',
  answers: [
    { status: 200, meaning: 'the file', contentType: 'text/javascript' },
    { status: 404, meaning: 'no such file in this version' },
  ],
  async run({ params: { name } }) {
    const file = (await readPageFiles()).assets.get(name);
    if (!file) throw new HttpError(404, 'NOT_FOUND', 'no such file');
    return { status: 200, file };
  },
});

/** The routes of the page in a browser. They need no token, and hold no data. */
export const PAGE_ROUTES: readonly Route[] = [...PAGES, readAsset];

async function shell(): Promise<Answer> {
  return { status: 200, file: (await readPageFiles()).shell };
}
