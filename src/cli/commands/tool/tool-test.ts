import { PerdureError } from '../../../contracts/perdure-error.js';
import type { ContentPart, JsonValue } from '../../../contracts/schemas/message.js';
import { echoValue } from '../../../contracts/text/echo-value.js';
import { resolveStateDir } from '../../../worker/state-folder/state-folder.js';
import { printJson, printText, say } from '../../display/output.js';
import type { CliContext } from '../../host/context.js';
import { loadConfigHere } from '../../host/load-config.js';
import { checkWorkspace } from '../../options/workspace.js';

/** The options of `tool test`. */
export interface ToolTestOptions {
  readonly workspace?: string;
  readonly json?: boolean;
}

/**
 * `tool test NAME '{…}'`: runs a tool once and prints its result on stdout, its log on stderr. No gate, hook or approval applies. Exits with
 * 1 if the tool fails. Throws `BAD_JSON`, `UNKNOWN_TOOL` and `BAD_ARGUMENTS` (2).
 */
export async function toolTest(name: string, text: string, options: ToolTestOptions, { output, interrupts }: CliContext): Promise<number> {
  const args = parseArguments(text);
  const workspace = options.workspace === undefined ? undefined : await checkWorkspace(options.workspace, { iKnow: false });
  const config = await loadConfigHere();
  const [{ tryTool }, { createArtifactStore }] = await Promise.all([
    import('../../../worker/config/try-tool.js'),
    import('../../../worker/storage/artifact-store.js'),
  ]);
  const log: { readonly level: string; readonly message: string }[] = [];
  const tried = await tryTool(config, {
    name,
    args,
    workspace,
    stateDir: resolveStateDir(),
    artifacts: createArtifactStore(config, resolveStateDir()),
    signal: interrupts.signal,
    onLog: (level, message) => {
      log.push({ level, message });
      if (!options.json) say(output, `${level}: ${message}`);
    },
  });
  if (options.json) printJson(output, { tool: name, ...tried, log });
  else {
    printText(output, tried.parts.map(partText).join('\n'));
    say(output, `${name}: ${tried.outcome} after ${tried.durationMs} ms`);
  }
  return tried.outcome === 'ok' ? 0 : 1;
}

function parseArguments(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = `Put a JSON object in single quotes: '{"text":"hello"}'.`;
    throw new PerdureError('BAD_JSON', `the arguments ${echoValue(text)} are not JSON: ${reason}. ${advice}`, 2, { cause: error });
  }
}

/** Pictures and other files are named. */
function partText(part: ContentPart): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'file':
      return `[file: ${part.mime}, ${part.dataBase64 === undefined ? (part.ref ?? '') : `${Buffer.byteLength(part.dataBase64, 'base64')} bytes`}]`;
    case 'artifact':
      return `[artifact: ${part.ref}, ${part.bytes} bytes]`;
  }
}
