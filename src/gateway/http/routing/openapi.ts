import { z } from 'zod';
import type { DescribedAnswer, Route } from './route.js';

/** The statuses of errors, for every route that needs a token. */
export const ERRORS: Readonly<Record<number, string>> = {
  400: 'malformed request',
  401: 'no token, or an unknown one',
  403: 'the token does not allow this',
  404: 'not found, or of another tenant',
  409: 'the state does not allow this',
  413: 'too large',
  415: 'another content type than application/json',
  422: 'well-formed, but invalid',
  429: 'too many requests',
  431: 'address and headers too large',
  503: 'no worker or no Temporal server answers, or tokens cannot be checked',
};

/** The body of every error. */
const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** Describes routes as an OpenAPI 3.1 document, made from their schemas. */
export function openApiOf(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Perdure', version, description: 'Starts, follows and controls durable agent runs.' },
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: schemaOf(ErrorBody, 'output') },
      responses: Object.fromEntries(
        Object.entries(ERRORS).map(([status, meaning]) => [
          `Error${status}`,
          { description: meaning, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
        ]),
      ),
    },
  };
}

function operationOf({ method, path, right, summary, query, body, headers = [], answers }: Route): object {
  const parameters = [
    ...[...path.matchAll(/\{(?<name>\w+)\}/gu)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...Object.entries(query?.shape ?? {}).map(([name, schema]) => ({ name, in: 'query', ...describedField(schema) })),
    ...headers.map(({ name, meaning }) => ({ name, in: 'header', description: meaning, schema: { type: 'string' } })),
  ];
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^A-Za-z]+(?<letter>[A-Za-z]|$)/gu, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    security: right === 'none' ? [] : [{ token: [] }],
    ...(right === 'none' ? {} : { 'x-right': right }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body ? { requestBody: { required: isNeeded(body), content: { 'application/json': { schema: schemaOf(body, 'input') } } } } : {}),
    responses: responsesOf(answers, right !== 'none'),
  };
}

function responsesOf(answers: readonly DescribedAnswer[], hasErrors: boolean): object {
  const errors = hasErrors ? Object.keys(ERRORS).map((status) => [status, { $ref: `#/components/responses/Error${status}` }] as const) : [];
  return Object.fromEntries([...errors, ...answers.map((answer) => [String(answer.status), responseOf(answer)] as const)]);
}

function responseOf({ status, meaning, schema, contentType = 'application/json' }: DescribedAnswer): object {
  const isError = status >= 400 && !schema;
  if (isError) return { description: meaning, content: { [contentType]: { schema: { $ref: '#/components/schemas/Error' } } } };
  if (!schema) return { description: meaning, ...(contentType === 'application/json' ? {} : { content: { [contentType]: {} } }) };
  return { description: meaning, content: { [contentType]: { schema: schemaOf(schema, 'output') } } };
}

/** A body without required fields may be left out. */
function isNeeded(body: z.ZodObject): boolean {
  return !body.safeParse({}).success;
}

function describedField(schema: z.core.$ZodType): object {
  const { description, ...rest } = schemaOf(schema, 'input');
  return { ...(description === undefined ? {} : { description }), schema: rest };
}

function schemaOf(schema: z.core.$ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _dialect, $defs: _definitions, ...rest } = z.toJSONSchema(schema, { io, reused: 'inline', unrepresentable: 'any' });
  return withoutReferences(rest);
}

/** Only the type of any JSON value refers to itself; it is written as a schema that accepts everything. */
function withoutReferences(schema: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(schema, (_, value: unknown) => (isReference(value) ? {} : value));
  return JSON.parse(text) as Record<string, unknown>;
}

function isReference(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '$ref' in value;
}
