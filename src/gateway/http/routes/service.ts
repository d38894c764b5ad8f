import { z } from 'zod';
import type { PageFile } from '../../page/page-files.js';
import { openApiOf } from '../routing/openapi.js';
import { type Answer, defineRoute, type Route } from '../routing/route.js';

const State = z.object({ status: z.string() });

/** The routes about the gateway itself. `described`: the routes that its OpenAPI document describes. */
export function serviceRoutes(described: readonly Route[]): readonly Route[] {
  const health = defineRoute({
    method: 'GET',
    path: '/healthz',
    right: 'none',
    summary: 'tell whether the gateway runs',
    answers: [{ status: 200, meaning: 'the gateway runs', schema: State }],
    run: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
  });
  const ready = defineRoute({
    method: 'GET',
    path: '/readyz',
    right: 'none',
    summary: 'tell whether requests can be answered',
    answers: [
      { status: 200, meaning: 'requests can be answered', schema: State },
      { status: 503, meaning: 'starting, ending, or without its Temporal server' },
    ],
    async run({ gateway }) {
      const isReady = await gateway.isReady();
      return { status: isReady ? 200 : 503, body: { status: isReady ? 'ready' : gateway.isDraining ? 'draining' : 'not ready' } };
    },
  });
  let document: PageFile | undefined;
  const openApi = defineRoute({
    method: 'GET',
    path: '/openapi.json',
    right: 'none',
    summary: 'describe the routes as OpenAPI 3.1',
    answers: [{ status: 200, meaning: 'the document', schema: z.looseObject({ openapi: z.string() }) }],
    run({ gateway }): Promise<Answer> {
      // made once: anybody may request it
      document ??= fileOf(openApiOf(all, gateway.door.version));
      return Promise.resolve({ status: 200, file: document });
    },
  });
  const all: readonly Route[] = [...described, health, ready, openApi];
  return [health, ready, openApi];
}

function fileOf(document: object): PageFile {
  return { bytes: Buffer.from(`${JSON.stringify(document)}\n`), contentType: 'application/json', headers: {} };
}
