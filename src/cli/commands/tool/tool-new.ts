import { resolve } from 'node:path';
import { TOOL_LIMITS } from '../../../contracts/constants/limits.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import { Effect } from '../../../contracts/schemas/tool.js';
import { didYouMean } from '../../../contracts/text/did-you-mean.js';
import { echoValue } from '../../../contracts/text/echo-value.js';
import { printJson, printText } from '../../display/output.js';
import type { CliContext } from '../../host/context.js';
import { exportName, type SchemaKind, toolFiles } from '../../project/tool-files.js';
import { writeNewFiles } from '../../project/write-files.js';

/** The options of `tool new`. */
export interface ToolNewOptions {
  readonly effect?: string;
  readonly schema?: string;
  readonly json?: boolean;
}

const SCHEMAS: readonly SchemaKind[] = ['zod', 'json'];

/**
 * `tool new NAME`: writes a tool and its test into the current folder. Never overwrites a file. Throws `TOOL_NAME` and `BAD_OPTION` (2), and
 * `FILE_EXISTS` (4) before it writes anything.
 */
export async function toolNew(name: string, options: ToolNewOptions, { output }: CliContext): Promise<number> {
  if (!TOOL_LIMITS.namePattern.test(name)) {
    const message = `tool name ${echoValue(name)} is invalid. Use a letter or _, then up to 63 of a-z A-Z 0-9 _ -.`;
    throw new PerdureError('TOOL_NAME', message, 2);
  }
  const { BUILT_IN_TOOLS } = await import('../../../worker/config/list-tools.js');
  if (BUILT_IN_TOOLS.includes(name)) throw new PerdureError('TOOL_NAME', `"${name}" is the name of a built-in tool. Use another name.`, 2);
  const effect = oneOf('--effect', options.effect ?? 'once', Effect.options);
  const schema = oneOf('--schema', options.schema ?? 'zod', SCHEMAS);
  const files = toolFiles({ name, effect, schema });
  const folder = resolve('.');
  await writeNewFiles(folder, files, { code: 'TOOL_FOLDER', advice: 'Use another name: perdure tool new NAME' });
  const paths = files.map(({ path }) => path);
  const [tool = ''] = paths;
  const next = `import { ${exportName(name)} } from './${tool}';`;
  if (options.json) printJson(output, { name, effect, schema, folder, files: paths });
  else {
    const lines = ['Next, in perdure.config.ts:', `  ${next}`, `  export default defineConfig({ tools: [${exportName(name)}] });`];
    printText(
      output,
      [...paths.map((path) => `created ${path}`), '', ...lines, `Then: perdure tool test ${name} '{"text":"hello"}'`].join('\n'),
    );
  }
  return 0;
}

function oneOf<Value extends string>(flag: string, given: string, values: readonly Value[]): Value {
  const found = values.find((value) => value === given);
  if (found !== undefined) return found;
  throw new PerdureError('BAD_OPTION', `${flag} ${echoValue(given)}: use ${values.join(', ')}${didYouMean(given, values)}`, 2);
}
