import { existsSync } from 'node:fs';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { LoadedConfig } from '../../worker/config/load-config.js';
import type { ListedPlugin } from '../../worker/config/merge-plugins.js';
import type { Check } from '../../worker/self-check.js';
import { resolveStateDir, stateFolder } from '../../worker/state-folder/state-folder.js';
import { resolveTemporalBinary } from '../../worker/temporal/binary.js';
import { placeOf } from '../display/format.js';
import { errorLine, type Output, printJson, say } from '../display/output.js';
import { terminalLine } from '../display/terminal-text.js';
import type { CliContext } from '../host/context.js';
import { loadConfigHere } from '../host/load-config.js';
import { openPlaceIfThere, type Place, type PlaceOptions } from '../host/workplace.js';
import { checkWorkspace } from '../options/workspace.js';

/** The options of `doctor`. */
export interface DoctorOptions extends PlaceOptions {
  readonly json?: boolean;
  readonly fix?: boolean;
  readonly workspace?: string;
}

/** `doctor`: checks everything that a run needs and prints one line per check, with advice. Exits with 1 if a check fails. */
export async function doctor(options: DoctorOptions, { output }: CliContext): Promise<number> {
  const checks: Check[] = [];
  const report = (check: Check): void => {
    checks.push(check);
    if (!options.json) output.stdout.write(`${checkLine(check)}\n`);
  };
  const selfCheck = await import('../../worker/self-check.js');
  report(checkNode(process.versions.node));
  const { checkModel, checkKeys } = selfCheck;
  // without a readable config, what the defaults would do
  let loaded: LoadedConfig | undefined;
  report(
    await attempt('config', loadConfigHere, (config) => {
      loaded = config;
      return reportConfig(config, report, { checkModel, checkKeys });
    }),
  );
  report(await selfCheck.checkSandbox(loaded ?? { config: {} }));
  const processGroups = await selfCheck.checkProcessGroups(loaded ?? { config: {} });
  if (processGroups) report(processGroups);
  const { checkArtifacts } = selfCheck;
  const withArtifacts: LoadedConfig | undefined = loaded;
  if (withArtifacts?.config.artifacts) {
    report(
      await attempt(
        'artifacts',
        () => checkArtifacts(withArtifacts, resolveStateDir()),
        (check) => check,
      ),
    );
  }
  report(await selfCheck.checkStateFolder(resolveStateDir()));
  if (options.workspace !== undefined) {
    const { workspace } = options;
    report(
      await attempt(
        'workspace',
        () => checkWorkspace(workspace, { iKnow: false }),
        (path) => ({ level: 'ok', name: 'workspace', detail: path }),
      ),
    );
  }
  report(await checkBinary(output, options));
  const place = await openOrReport(options, output, report);
  if (place) {
    try {
      report({
        level: 'ok',
        name: 'server',
        detail: `${place.location.address}, namespace ${place.location.namespace} (${place.location.kind})`,
      });
      report(await selfCheck.checkSearchAttributes(place.location, { fix: options.fix ?? false }));
      report(await checkWorkers(place));
    } finally {
      await place.close();
    }
  }
  if (options.json) printJson(output, checks);
  return checks.some((check) => check.level === 'fail') ? 1 : 0;
}

/** Formats a check as one line: level, name, finding and advice. Pure. */
export function checkLine({ level, name, detail, advice }: Check): string {
  return level.padEnd(LEVEL_WIDTH) + terminalLine(`${name}: ${detail}${advice === undefined ? '' : `; ${advice}`}`);
}

const LEVEL_WIDTH = 6;

/** Checks the Node version. Pure. */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > NODE_MIN.major || (major === NODE_MIN.major && minor >= NODE_MIN.minor);
  if (enough) return { level: 'ok', name: 'node', detail: version };
  return { level: 'fail', name: 'node', detail: version, advice: `install Node ${NODE_MIN.major}.${NODE_MIN.minor} or newer` };
}

const NODE_MIN = { major: 20, minor: 19 };

/** The checks of a loaded config. */
interface ConfigChecks {
  readonly checkModel: (config: LoadedConfig) => Check;
  readonly checkKeys: (config: LoadedConfig) => Check;
}

function reportConfig(config: LoadedConfig, report: (check: Check) => void, { checkModel, checkKeys }: ConfigChecks): Check {
  report({ level: 'ok', name: 'config', detail: config.file ?? 'no config file, using the defaults' });
  for (const plugin of config.plugins ?? []) report(describePlugin(plugin, process.cwd()));
  report(checkModel(config));
  return checkKeys(config);
}

/** A plugin of the config, with what it brings. Pure. */
function describePlugin({ name, file, ...brought }: ListedPlugin, cwd: string): Check {
  const parts = Object.entries(brought).flatMap(([kind, names]) => (names.length > 0 ? [`${kind} ${names.join(', ')}`] : []));
  const from = file === undefined ? 'from the config' : `from ${placeOf(file, cwd)}`;
  return { level: 'ok', name: `plugin ${name}`, detail: [...parts, from].join('; ') };
}

async function checkBinary(output: Output, options: PlaceOptions): Promise<Check> {
  const name = 'server binary';
  if (options.address !== undefined || process.env.TEMPORAL_ADDRESS)
    return { level: 'ok', name, detail: 'not needed, a server address is configured' };
  const tell = (line: string): void => say(output, line);
  return await attempt(
    name,
    () => resolveTemporalBinary({ say: tell }),
    (path) => ({ level: 'ok', name, detail: path }),
  );
}

async function openOrReport(options: PlaceOptions, output: Output, report: (check: Check) => void): Promise<Place | undefined> {
  try {
    const place = await openPlaceIfThere(options, (line) => say(output, line));
    if (!place) report({ level: 'ok', name: 'server', detail: "not started; 'perdure run' starts the embedded server" });
    return place;
  } catch (error) {
    report(failed('server', error));
    return undefined;
  }
}

async function checkWorkers(place: Place): Promise<Check> {
  if (await place.hasWorker()) return { level: 'ok', name: 'worker', detail: `a worker polls queue ${place.taskQueue}` };
  const detail = `no worker polls queue ${place.taskQueue}`;
  const isNamed = place.location.kind === 'configured';
  const mayHaveRuns = isNamed || existsSync(stateFolder(resolveStateDir()).database);
  const hasRuns = mayHaveRuns && (await place.client.list({ status: 'open', limit: 1 })).length > 0;
  // on a server of its own, a folder starts its worker with each command
  if (!hasRuns && !isNamed) return { level: 'ok', name: 'worker', detail: `${detail}; 'perdure run' starts one` };
  if (!hasRuns) return { level: 'warn', name: 'worker', detail, advice: "start one with 'perdure worker'" };
  return {
    level: isNamed ? 'fail' : 'warn',
    name: 'worker',
    detail: `${detail}, but runs are open`,
    advice: "start one with 'perdure dev' or 'perdure worker'",
  };
}

async function attempt<T>(name: string, look: () => Promise<T>, found: (value: T) => Check): Promise<Check> {
  try {
    return found(await look());
  } catch (error) {
    return failed(name, error);
  }
}

function failed(name: string, error: unknown): Check {
  if (!(error instanceof PerdureError)) throw error;
  const { code, message } = errorLine(error);
  return { level: 'fail', name, detail: `${code}: ${message}` };
}
