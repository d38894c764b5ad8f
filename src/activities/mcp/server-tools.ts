import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { MCP_LIMITS } from '../../contracts/constants/limits.js';
import type { ContentPart } from '../../contracts/schemas/message.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import type { InputSchema } from './argument-check.js';
import type { McpAbilities } from './connection.js';
import { resultParts } from './result-parts.js';

/** A tool that reads what a server has beside tools. */
export interface ServerTool {
  readonly name: string;
  readonly needs: keyof McpAbilities;
  readonly schema: InputSchema;
  description(server: string): string;
  run(client: Client, args: Record<string, unknown>, options: RequestOptions): Promise<readonly ContentPart[]>;
}

const NO_ARGUMENTS: InputSchema = { type: 'object', properties: {}, additionalProperties: false };

/** The tools for resources and prompts. A tool of the server with the same name comes first. */
export const SERVER_TOOLS: readonly ServerTool[] = [
  {
    name: 'list_resources',
    needs: 'resources',
    schema: NO_ARGUMENTS,
    description: (server) => `List the resources of ${server}: one address a line, with its name.`,
    run: async (client, _, options) => {
      const { resources } = await client.listResources({}, options);
      const { resourceTemplates } = await client.listResourceTemplates({}, options).catch(() => ({ resourceTemplates: [] }));
      const lines = resources.map(({ uri, name, description }) => line([uri, name, description]));
      const templates = resourceTemplates.map(({ uriTemplate, name, description }) => line([uriTemplate, name, description]));
      return listed([...lines, ...templates], 'no resources');
    },
  },
  {
    name: 'read_resource',
    needs: 'resources',
    schema: {
      type: 'object',
      properties: { uri: { type: 'string', description: 'Address of the resource.' } },
      required: ['uri'],
      additionalProperties: false,
    },
    description: (server) => `Read a resource of ${server} by its address.`,
    run: async (client, { uri }, options) => {
      const { contents } = await client.readResource({ uri: String(uri) }, options);
      return resultParts({ content: contents.map((resource) => ({ type: 'resource', resource })) });
    },
  },
  {
    name: 'list_prompts',
    needs: 'prompts',
    schema: NO_ARGUMENTS,
    description: (server) => `List the prompts of ${server}: instructions for tasks that it knows, with their arguments.`,
    run: async (client, _, options) => {
      const { prompts } = await client.listPrompts({}, options);
      const names = (given: (typeof prompts)[number]['arguments']): string =>
        (given ?? []).map(({ name, required }) => (required ? name : `${name}?`)).join(', ');
      return listed(
        prompts.map((prompt) => line([`${prompt.name}(${names(prompt.arguments)})`, prompt.description])),
        'no prompts',
      );
    },
  },
  {
    name: 'get_prompt',
    needs: 'prompts',
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Name of the prompt.' },
        arguments: { type: 'object', additionalProperties: { type: 'string' }, description: 'Arguments of the prompt by name.' },
      },
      required: ['name'],
      additionalProperties: false,
    },
    description: (server) => `Read a prompt of ${server}: instructions to follow for a task.`,
    run: async (client, args, options) => {
      const given = Object.entries((args['arguments'] ?? {}) as Record<string, unknown>);
      const prompt = await client.getPrompt(
        { name: String(args['name']), arguments: Object.fromEntries(given.map(([name, value]) => [name, String(value)])) },
        options,
      );
      return resultParts({ content: prompt.messages.map(({ content }) => content) });
    },
  },
];

function listed(lines: readonly string[], none: string): readonly ContentPart[] {
  const more = lines.length - MCP_LIMITS.entriesShownMax;
  const shown = [...lines.slice(0, MCP_LIMITS.entriesShownMax), ...(more > 0 ? [`… and ${more} more`] : [])];
  return [{ type: 'text', text: shown.length === 0 ? none : shown.join('\n') }];
}

/** One entry of a list in one line. */
function line(parts: readonly (string | undefined)[]): string {
  const texts = parts.flatMap((part) => (part === undefined || part === '' ? [] : [cleanText(part).replaceAll(/\s+/gu, ' ')]));
  return texts.join(' – ').slice(0, 1_000);
}
