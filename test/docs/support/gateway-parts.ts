import { z } from 'zod';
import { runTools } from '../../../src/gateway/mcp/run-tools.js';
import { markdownTable } from './markdown.js';

/** The generated parts of the page about `perdure mcp`. */
export const GATEWAY_PARTS: Readonly<Record<string, () => string>> = {
  'run-tools': () => markdownTable(['tool', 'input', 'meaning'], runTools({ decides: true }).map(row)),
};

type Listed = ReturnType<typeof runTools>[number];

function row({ name, description, input }: Listed): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input' });
  const fields = Object.keys(properties).map((field) => `\`${field}${required.includes(field) ? '' : '?'}\``);
  return [`\`${name}\``, fields.join(', ') || '·', description];
}
