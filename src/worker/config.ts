import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { captureKeys, type KeyRing } from '../activities/key-ring.js';
import { baseUrlProblem } from '../activities/providers/registry.js';
import { WORKSPACE_TOOLS } from '../activities/tools/registry.js';
import { PerdureError } from '../contracts/coded-error.js';
import { nearestName } from '../contracts/nearest-name.js';
import { Config } from '../define/define-config.js';
import { parametersSchema } from '../define/define-tool.js';

/** A checked configuration with the keys it may use. */
export interface LoadedConfig {
  readonly config: Config;
  /** The file it came from; undefined when there is none and the defaults stand. */
  readonly file: string | undefined;
  readonly keys: KeyRing;
  /** Of the file's text, the versions of its tools' schemas and a fingerprint of the keys: tells whether two processes run with the same. */
  readonly hash: string;
}

const FILES = ['perdure.config.ts', 'perdure.config.mjs', 'perdure.config.js', 'perdure.config.json'];

/** Fields of the contract whose feature is not in this version: refused, never ignored. */
const LATER = ['fallbacks', 'hooks', 'mcpServers', 'plugins'];
const LATER_OF_AGENT = ['fallbacks', 'subagents', 'skills', 'mcp', 'thinking', 'preset', 'gate', 'budget', 'completionGate'];

/**
 * Loads `perdure.config.*` of a folder, checks it, and takes the keys out of the environment. Without a file the defaults stand.
 * Throws PerdureError `CONFIG` (2) with all problems at once, each with its path.
 */
export async function loadConfig({
  cwd,
  env = process.env,
}: {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}): Promise<LoadedConfig> {
  const file = FILES.map((name) => resolve(cwd, name)).find((path) => existsSync(path));
  const given = file === undefined ? {} : await readConfigFile(file);
  const parsed = Config.safeParse(given);
  const problems = parsed.success ? meaningProblems(parsed.data) : parsed.error.issues.map(describeIssue);
  if (!parsed.success || problems.length > 0) throw new PerdureError('CONFIG', `${file ?? 'config'}: ${problems.join('; ')}`, 2);
  const config = parsed.data;
  const keys = captureKeys(env, keyVariables(config));
  return { config, file, keys, hash: await hashOf(config, file, keys) };
}

async function readConfigFile(file: string): Promise<unknown> {
  if (file.endsWith('.json')) {
    try {
      return JSON.parse(await readFile(file, 'utf8'));
    } catch (error) {
      throw new PerdureError('CONFIG', `${file}: ${messageOf(error)}`, 2, { cause: error });
    }
  }
  // loaded only when there is a config: it costs a third of a second
  const { createJiti } = await import('jiti');
  const jiti = createJiti(import.meta.url, {
    alias: { perdure: ownDoor(), zod: fileURLToPath(import.meta.resolve('zod')) },
    moduleCache: false,
  });
  try {
    return await jiti.import(file, { default: true });
  } catch (error) {
    throw new PerdureError('CONFIG', `${file}${placeOf(error)}: ${messageOf(error)}`, 2, { cause: error });
  }
}

/** This package's own door, so that a config may say `from "perdure"` wherever it stands. */
function ownDoor(): string {
  const doors = ['../define/index.js', '../define/index.ts'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return doors.find((path) => existsSync(path)) ?? 'perdure';
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') return `${path || 'config'}: ${issue.message}`;
  return issue.keys.map((key) => unknownKey(path, key)).join('; ');
}

function unknownKey(path: string, key: string): string {
  const ofAgent = path.startsWith('agents.');
  const place = path === '' ? key : `${path}.${key}`;
  if ((ofAgent ? LATER_OF_AGENT : LATER).includes(key)) return `${place}: not supported in this version`;
  const near = nearestName(
    key,
    ofAgent ? ['description', 'prompt', 'model', 'tools', 'blockedTools', 'maxTurns'] : Object.keys(Config.shape),
  );
  return `${place}: unknown${near ? ` (did you mean ${near}?)` : ''}`;
}

/** What a schema cannot see: names that collide, tools that are nowhere, addresses that are none. */
function meaningProblems(config: Config): string[] {
  const names = (config.tools ?? []).map((tool) => tool.name);
  const builtIn = WORKSPACE_TOOLS.map((tool) => tool.name);
  const known = new Set([...names, ...builtIn]);
  return [
    ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `tools: TOOL_NAME ${name} is there twice`),
    ...names.filter((name) => builtIn.includes(name)).map((name) => `tools: TOOL_NAME ${name} is a built-in workspace tool`),
    ...(config.tools ?? []).flatMap((tool) => toolProblems(tool)),
    ...Object.entries(config.agents ?? {}).flatMap(([agent, { tools = [], blockedTools = [] }]) =>
      [...tools, ...blockedTools].filter((name) => !known.has(name)).map((name) => `agents.${agent}: no tool named ${name}`),
    ),
    ...Object.entries(config.providers ?? {}).flatMap(([name, { baseUrl, allowInsecure }]) => {
      const problem = baseUrlProblem(baseUrl, allowInsecure ?? false);
      return problem ? [`providers.${name}.baseUrl: BAD_BASE_URL ${problem}`] : [];
    }),
  ];
}

function toolProblems(tool: NonNullable<Config['tools']>[number]): string[] {
  if (tool.approval !== 'never') return [`tools.${tool.name}.approval: not supported in this version`];
  try {
    const bytes = JSON.stringify(parametersSchema(tool)).length;
    return bytes > 64 * 1024 ? [`tools.${tool.name}.parameters: a schema of ${bytes} bytes; at most 64 KiB`] : [];
  } catch (error) {
    return [`tools.${tool.name}.parameters: no JSON Schema can be made of it: ${messageOf(error)}`];
  }
}

function keyVariables(config: Config): string[] {
  const references = [
    ...Object.values(config.credentials ?? {}),
    ...Object.values(config.providers ?? {}).map((p) => p.credentials ?? []),
  ].flat();
  return references.flat().map((reference) => reference.replace(/^env:/u, ''));
}

async function hashOf(config: Config, file: string | undefined, keys: KeyRing): Promise<string> {
  const hash = createHash('sha256').update(file === undefined ? '' : await readFile(file));
  for (const tool of config.tools ?? []) hash.update(tool.name).update(JSON.stringify(parametersSchema(tool)));
  for (const name of [...keys.names()].toSorted())
    hash.update(name).update(
      createHash('sha256')
        .update(keys.resolve(name) ?? '')
        .digest(),
    );
  return hash.digest('hex').slice(0, 16);
}

/** Where a syntax error stands, when the loader says it. */
function placeOf(error: unknown): string {
  const place = error instanceof Error ? /:(\d+):(\d+)\)?\s*$/mu.exec(error.message) : null;
  return place ? `:${place[1]}:${place[2]}` : '';
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
