import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROCESS_OUTPUT } from '../../src/cli/display/output.js';
import { EXIT_CODE_BY_REASON } from '../../src/cli/display/result.js';
import { Interrupts } from '../../src/cli/host/interrupts.js';
import { createProgram } from '../../src/cli/program.js';
import { FAILURES } from '../../src/contracts/failures.js';
import { HANDLER_DESCRIPTIONS } from '../../src/contracts/handlers.js';
import { handlers, RunInput, RunResult, SEARCH_ATTRIBUTES } from '../../src/contracts/index.js';
import { DecidedApproval, PendingApproval } from '../../src/contracts/schemas/approval.js';
import { ModelPrice } from '../../src/contracts/schemas/model.js';
import { ModelTimes } from '../../src/contracts/schemas/model-route.js';
import { type Progress, Reason, RunBounds, RunContext, SteerRecord, SteerState, Step } from '../../src/contracts/schemas/run.js';
import { SubprocessExecutor } from '../../src/define/agent-executor.js';
import { ArtifactsDefinition } from '../../src/define/artifacts.js';
import { AgentDefinition } from '../../src/define/define-agent.js';
import { Config } from '../../src/define/define-config.js';
import { HookDefinition, HookPoint } from '../../src/define/define-hook.js';
import type { ToolOptions } from '../../src/define/define-tool.js';
import { ModelOptions } from '../../src/define/model-options.js';
import { BudgetOptions } from '../../src/define/policy-options.js';
import { ProviderDefinition } from '../../src/define/provider-definition.js';
import { ProviderQuirks } from '../../src/define/provider-quirks.js';

/** Fields of interfaces, which there is nothing of at run time: the compiler sees to it that none is missing. */
const TOOL_FIELDS = {
  name: true,
  description: true,
  parameters: true,
  execute: true,
  effect: true,
  timeoutMs: true,
  pure: true,
  network: true,
  approval: true,
  reconcile: true,
} as const satisfies Record<keyof ToolOptions<unknown>, true>;

const PROGRESS_FIELDS = {
  status: true,
  phase: true,
  waitingFor: true,
  turn: true,
  maxTurns: true,
  tool: true,
  usage: true,
  costUsd: true,
  inbox: true,
  pendingApprovals: true,
  lastDecision: true,
  agent: true,
  model: true,
  cooling: true,
} as const satisfies Record<keyof Progress, true>;

let text: string;
beforeAll(async () => {
  text = await readFile(new URL('../../docs/reference.md', import.meta.url), 'utf8');
});

describe('docs/reference.md: inputs and results', () => {
  it('has a row for each field of RunInput and of RunResult, and no other', () => {
    expect(namesIn(rows('RunInput', 'field'))).toEqual(sorted(Object.keys(RunInput.shape)));
    expect(namesIn(rows('RunResult', 'field'))).toEqual(sorted(Object.keys(RunResult.shape)));
  });

  it('names every reason, and the parts of context and bounds', () => {
    expect(missing(Reason.options, section('RunResult'))).toEqual([]);
    expect(missing([...Object.keys(RunContext.shape), ...Object.keys(RunBounds.shape)], section('RunInput'))).toEqual([]);
  });

  it('the exit status of each reason is the one of its row', () => {
    const exits = new Map(rows('Exit status', '').map(([code = '', meaning = '']) => [Number(code), meaning]));
    expect(exits.get(EXIT_CODE_BY_REASON.completed)).toContain('completed');
    expect(exits.get(EXIT_CODE_BY_REASON.error)).toContain('`error`');
    expect(exits.get(EXIT_CODE_BY_REASON.refusal)).toContain('`refusal`');
    expect(exits.get(EXIT_CODE_BY_REASON.loop_detected)).toContain('loop');
    expect(exits.get(EXIT_CODE_BY_REASON.max_turns)).toContain('cap');
    expect(exits.get(EXIT_CODE_BY_REASON.cancelled)).toContain('cancelled');
  });
});

describe('docs/reference.md: what a live run takes', () => {
  it.each([
    ['Signals', 'signal'],
    ['Updates', 'update'],
    ['Queries', 'query'],
  ])('%s: a row for each, and no other', (title, type) => {
    const there = Object.values(handlers).flatMap((handler) => (isHandler(handler) && handler.type === type ? [handler.name] : []));
    expect(there.length).toBeGreaterThan(3);
    expect(namesIn(rows(title, type))).toEqual(sorted(there));
    expect(missing(there, Object.keys(HANDLER_DESCRIPTIONS).join('`'))).toEqual([]);
  });

  it('says what queries answer', () => {
    const answers = section('Queries');
    const fields = [PendingApproval, DecidedApproval, SteerRecord, Step].flatMap(({ shape }) => Object.keys(shape));
    expect(missing([...fields, ...Object.keys(PROGRESS_FIELDS)], answers)).toEqual([]);
    expect(missing([...SteerState.options, ...Step.shape.status.options, ...DecidedApproval.shape.decision.options], answers)).toEqual([]);
  });

  it('names the search attributes', () => {
    expect(missing(Object.keys(SEARCH_ATTRIBUTES), section('Queries'))).toEqual([]);
  });

  it('has a row for each event with its fields, and no other', async () => {
    const source = await readFile(new URL('../../src/contracts/event.ts', import.meta.url), 'utf8');
    const there = eventsIn(source);
    expect(there.length).toBeGreaterThan(30);
    const shown = rows('Events', 'event').map(([name = '', fields = '']) => [quoted(name)[0], sorted(quoted(fields))]);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(there));
  });

  it('has a row for each failure that says whether it is retried, and no other', () => {
    const shown = rows('Failures', 'type').map(([type = '', retryable]) => [quoted(type)[0], { retryable: retryable === 'yes' }]);
    expect(Object.fromEntries(shown)).toEqual(FAILURES);
  });
});

describe('docs/reference.md: the command line', () => {
  it('has a row for each verb, and no other', () => {
    const shown = rows('Command line', 'verb').flatMap(([verbs = '']) => quoted(verbs).map((verb) => verb.split(' ')[0] ?? ''));
    expect(sorted(shown)).toEqual(sorted(commands().map((command) => command.name())));
  });

  it('names every option of every verb, and none that there is not', () => {
    const options = commands().flatMap((command) => command.options.flatMap(({ hidden, long }) => (hidden ? [] : [long ?? ''])));
    const shown = [...section('Command line').matchAll(/--[a-z][a-z-]*/gu)].map(([option]) => option);
    expect(sorted(shown)).toEqual(sorted(options));
  });
});

describe('docs/reference.md: the configuration', () => {
  it.each([
    ['config', Object.keys(Config.shape)],
    ['agent', Object.keys(AgentDefinition.shape)],
    ['tool', Object.keys(TOOL_FIELDS)],
    ['hook', Object.keys(HookDefinition.shape)],
  ])('has a row for each field of a %s, and no other', (what, fields) => {
    const shown = rows('Configuration', what === 'config' ? 'field of the config' : `field of ${what === 'agent' ? 'an' : 'a'} ${what}`);
    expect(namesIn(shown)).toEqual(sorted(fields));
  });

  it.each([
    ['field of a model', Object.keys(ModelOptions.shape)],
    ['quirk of a server', Object.keys(ProviderQuirks.shape)],
    ['api of a provider', ProviderDefinition.options.flatMap(({ shape: { api } }) => ('options' in api ? api.options : [api.value]))],
  ])('has a row for each %s, and no other', (head, names) => {
    expect(namesIn(rows('Models and providers', head))).toEqual(sorted(names));
  });

  it('names the fields of each kind of provider, and the parts of times, prices and executors', () => {
    const fields = [...ProviderDefinition.options, SubprocessExecutor, ModelTimes, ModelPrice].flatMap(({ shape }) => Object.keys(shape));
    expect(missing(fields, `${section('Configuration')}${section('Models and providers')}`)).toEqual([]);
  });

  it('names the parts of options that have parts', () => {
    expect(missing([...Object.keys(BudgetOptions.shape), ...HookPoint.options], section('Configuration'))).toEqual([]);
    expect(missing(Object.keys(ArtifactsDefinition.shape), section('Artifacts'))).toEqual([]);
  });

  it('leads only to headings that there are', async () => {
    const links = [...text.matchAll(/\]\((?<file>[\w./-]+\.md)(?:#(?<heading>[\w-]+))?\)/gu)].map(({ groups }) => groups ?? {});
    expect(links.length).toBeGreaterThan(15);
    const lost = await Promise.all(
      links.map(async ({ file = '', heading }) => ((await hasHeading(file, heading)) ? [] : [`${file}#${heading}`])),
    );
    expect(lost.flat()).toEqual([]);
  });
});

function section(title: string): string {
  return text.split(/^## /mu).find((part) => part.startsWith(title)) ?? '';
}

/** The rows of the table under a title whose first column has this head, without head and line. */
function rows(title: string, head: string): string[][] {
  const tables = section(title)
    .split(/\n\n/u)
    .map((block) =>
      block
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .map(cells),
    );
  return tables.find((table) => table[0]?.[0] === head)?.slice(2) ?? [];
}

function cells(line: string): string[] {
  return line
    .split(/(?<!\\)\|/u)
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** What stands in backticks, without an `?`. */
function quoted(cell: string): string[] {
  return [...cell.matchAll(/`(?<name>[^`]+)`/gu)].map(({ groups }) => (groups?.['name'] ?? '').replace(/\?$/u, ''));
}

/** The names in the first cells: of handlers without their arguments. */
function namesIn(table: readonly string[][]): string[] {
  return sorted(table.flatMap(([first = '']) => quoted(first).map((name) => name.split('(')[0] ?? '')));
}

function missing(names: readonly string[], where: string): string[] {
  return names.filter((name) => !new RegExp(`\\b${name}\\b`, 'u').test(where));
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted();
}

function isHandler(value: unknown): value is { readonly type: string; readonly name: string } {
  return typeof value === 'object' && value !== null && 'type' in value && 'name' in value;
}

/** The events as the contract writes them, each with its fields. */
function eventsIn(source: string): [name: string, fields: string[]][] {
  const plain = source.replaceAll(/\/\*\*.*?\*\//gsu, '');
  return [...plain.matchAll(/\|\s*\{\s*type: '(?<name>[\w.]+)';?(?<fields>[^}]*)\}/gsu)].map(({ groups }) => {
    const fields = [...(groups?.['fields'] ?? '').matchAll(/(?<field>\w+)\??:/gu)].map((match) => match.groups?.['field'] ?? '');
    return [groups?.['name'] ?? '', sorted(fields)];
  });
}

function commands(): readonly Command[] {
  return createProgram({ output: PROCESS_OUTPUT, interrupts: new Interrupts() }, () => undefined).commands;
}

async function hasHeading(file: string, heading: string | undefined): Promise<boolean> {
  const there = await readFile(new URL(`../../docs/${file}`, import.meta.url), 'utf8');
  return heading === undefined || headingsOf(there).includes(heading);
}

/** As web pages name them. */
function headingsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (?<title>.+)$/gmu)].map(({ groups }) => {
    return (groups?.['title'] ?? '')
      .toLowerCase()
      .replaceAll(/[^\w -]/gu, '')
      .replaceAll(' ', '-');
  });
}
