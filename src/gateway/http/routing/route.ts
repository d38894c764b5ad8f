import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Right } from '../../../contracts/access/token-grant.js';
import { checkInput } from '../../check-input.js';
import type { PageFile } from '../../page/page-files.js';
import type { Caller } from '../access/caller.js';
import type { EventStream } from '../events/event-stream.js';
import type { Gateway } from './gateway.js';

/** The names in braces of a path. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Record<Name, string> & ParamsOf<Rest> : unknown;

/** A request whose token, rights and input were checked. */
export interface Call<Params = Record<string, string>, Query = unknown, Body = unknown> {
  readonly gateway: Gateway;
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

/** The answer to a request: JSON, a file of the page, or a stream of events. */
export type Answer =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly status: 200; readonly file: PageFile }
  | { readonly stream: EventStream; readonly headers?: Readonly<Record<string, string>> };

/** One answer in the description of a route. */
export interface DescribedAnswer {
  readonly status: number;
  readonly meaning: string;
  /** @default no body */
  readonly schema?: z.ZodType;
  /** @default application/json */
  readonly contentType?: string;
}

/** A request header that a route reads. */
export interface DescribedHeader {
  readonly name: string;
  readonly meaning: string;
}

/** One route: what it takes, what it needs, what it answers. The server, the OpenAPI document and the reference read this entry. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With parameters in braces: `/v1/runs/{id}`. */
  readonly path: string;
  /** The right that the token needs. `none`: no token, and no data. */
  readonly right: Right | 'none';
  /** One line: verb first. */
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly headers?: readonly DescribedHeader[];
  readonly answers: readonly DescribedAnswer[];
  /** Refuses callers while the gateway ends. @default false */
  readonly startsWork?: true;
  /** Throws HttpError and PerdureError. */
  run(call: Call): Promise<Answer>;
}

interface Definition<Path extends string, Query extends z.ZodObject, Body extends z.ZodObject>
  extends Omit<Route, 'path' | 'query' | 'body' | 'run'> {
  readonly path: Path;
  readonly query?: Query;
  readonly body?: Body;
  run(call: Call<ParamsOf<Path>, z.output<Query>, z.output<Body>>): Promise<Answer>;
}

/** The schema of a route without fields. */
const NOTHING = z.strictObject({});

/** A route whose query and body are checked before it runs. A route without a schema refuses every field. */
export function defineRoute<const Path extends string, Query extends z.ZodObject = z.ZodObject, Body extends z.ZodObject = z.ZodObject>(
  route: Definition<Path, Query, Body>,
): Route {
  const { query, body } = route;
  return {
    ...route,
    run: async ({ params, ...call }) =>
      await route.run({
        ...call,
        // the router gives the names of the path
        params: params as unknown as ParamsOf<Path>,
        query: checkInput(query ?? (NOTHING as unknown as Query), call.query),
        body: checkInput(body ?? (NOTHING as unknown as Body), call.body),
      }),
  };
}
