import { TokenEntry } from '../../../src/gateway/http/access/tokens.js';
import { postAgUi } from '../../../src/gateway/http/routes/agui.js';
import { ROUTES } from '../../../src/gateway/http/routes/routes.js';
import { startRun } from '../../../src/gateway/http/routes/start-run.js';
import { ERRORS } from '../../../src/gateway/http/routing/openapi.js';
import type { Route } from '../../../src/gateway/http/routing/route.js';
import { DocComments } from './doc-comments.js';
import { schemaTable } from './field-table.js';
import { markdownTable } from './markdown.js';
import { SCHEMA_NAMES } from './schema-names.js';

/** The generated parts of the page about `perdure serve`. */
export const HTTP_PARTS: Readonly<Record<string, () => string>> = {
  'http-routes': () => markdownTable(['route', 'right', 'takes', 'answers', 'meaning'], ROUTES.map(row)),
  'http-errors': () => markdownTable(['status', 'meaning'], Object.entries(ERRORS)),
  'http-token': () =>
    schemaTable(
      TokenEntry,
      { docs: new DocComments('gateway/http/access/tokens.ts'), declarations: ['TokenEntry'] },
      { names: SCHEMA_NAMES, types: { rights: 'list of `run`, `read`, `steer`, `approve`' } },
    ),
};

function row({ method, path, right, summary, query, body, headers = [], answers }: Route): string[] {
  const fields = Object.entries(body?.shape ?? {}).map(([name, schema]) => `\`${name}${schema.safeParse(undefined).success ? '?' : ''}\``);
  const takes = [
    ...headers.map(({ name }) => `header \`${name}\``),
    ...Object.keys(query?.shape ?? {}).map((name) => `\`?${name}\``),
    ...described(body, fields),
  ];
  return [
    `\`${method} ${path}\``,
    right,
    takes.join(', ') || '·',
    answers.map(({ status, meaning }) => `${status} ${meaning}`).join('; '),
    summary,
  ];
}

function described(body: Route['body'], fields: readonly string[]): readonly string[] {
  const link = DESCRIBED.get(body);
  return link === undefined ? fields : [link];
}

/** Bodies with a page or section of their own. */
const DESCRIBED: ReadonlyMap<unknown, string> = new Map([
  [startRun.body, '[input of a run](run.md)'],
  [postAgUi.body, '[`RunAgentInput`](#ag-ui)'],
]);
