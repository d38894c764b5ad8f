import * as limits from '../../../src/contracts/constants/limits.js';
import { DEFAULT_POLICY, GateRule } from '../../../src/contracts/schemas/policy.js';
import { PRESETS, type Preset, PresetName } from '../../../src/define/presets.js';
import { Script, ScriptStep, ScriptToolCall } from '../../../src/providers/scripted/script.js';
import { EventKind, ScriptFault } from '../../../src/providers/scripted/script-fault.js';
import { DocComments } from './doc-comments.js';
import { schemaTable } from './field-table.js';
import { markdownTable } from './markdown.js';
import { quantity } from './quantity.js';
import { SCHEMA_NAMES } from './schema-names.js';
import { isOptional } from './schema-type.js';

const SCRIPT = new DocComments('providers/scripted/script.ts');
const FAULT = new DocComments('providers/scripted/script-fault.ts');
const names = SCHEMA_NAMES;

/** The generated parts of the pages about limits, presets and scripts. */
export const LIMIT_PARTS: Readonly<Record<string, () => string>> = {
  'all-limits': () => [limitSections(TITLES.run, 'limits'), limitSections(TITLES.data, 'data-limits')].join('\n\n'),
  'all-worker-limits': () => [limitSections(TITLES.worker, 'worker-limits'), limitSections(TITLES.config, 'prompt-limits')].join('\n\n'),
  'all-guard-limits': () => limitSections(TITLES.guard, 'guard-limits'),
  'all-prompt-limits': () => limitSections(TITLES.prompt, 'prompt-limits'),
  'all-mcp-limits': () => limitSections(TITLES.mcp, 'mcp-limits'),
  'all-tool-limits': () => [limitSections(TITLES.tool, 'tool-limits'), limitSections(TITLES.background, 'background-limits')].join('\n\n'),
  'all-channel-limits': () => limitSections(TITLES.channel, 'channel-limits'),
  'all-session-limits': () => limitSections(TITLES.session, 'session-limits'),
  'all-http-limits': () => limitSections(TITLES.http, 'http-limits'),
  'all-gateway-limits': () => limitSections(TITLES.gateway, 'gateway-limits'),
  presets: () => presetTable(),
  script: () => schemaTable(Script, { docs: SCRIPT, declarations: ['Script'] }, { names }),
  'script-step': () =>
    schemaTable(
      ScriptStep,
      { docs: SCRIPT, declarations: ['ScriptStep'] },
      { names, types: { delayMs: 'integer', chunkDelayMs: 'integer' } },
    ),
  'script-tool-call': () => schemaTable(ScriptToolCall, { docs: SCRIPT, declarations: ['ScriptToolCall'] }, { names }),
  'script-faults': () => faultTable(),
  'event-kinds': () => EventKind.options.map((kind) => `\`${kind}\``).join(', '),
};

/** The headings of the groups of limits, in the order of their pages. */
const TITLES = {
  run: {
    RUN_LIMITS: 'Runs',
    MODEL_LIMITS: 'Model calls',
    THINKING_LIMITS: 'Thinking',
    TOOL_LIMITS: 'Tool calls',
    WORKSPACE_LIMITS: 'Workspace tools',
    WORKER_LIMITS: 'Workers',
    CONTINUE_AS_NEW_LIMITS: 'Continue-as-new',
    CLIENT_LIMITS: 'Clients',
  },
  data: {
    INPUT_LIMITS: 'Inputs of runs',
    STEER_LIMITS: 'Messages to a running agent',
    PAYLOAD_LIMITS: 'Payloads',
  },
  worker: {
    LOSS_LIMITS: 'Lost calls',
    HOSTING_LIMITS: 'Hosting',
    DEV_SERVER_LIMITS: 'Embedded server',
    HOST_PROCESS_LIMITS: 'Host processes',
    STREAM_LIMITS: 'Streams',
    REDIS_STREAM_LIMITS: 'Streams in Redis',
    SANDBOX_LIMITS: 'Sandbox of commands',
    DISK_LIMITS: 'Full disks',
    AUTH_LIMITS: 'Signatures',
    TENANT_LIMITS: 'Tenants',
    PROVIDER_LIMITS: 'Providers',
    LEDGER_LIMITS: 'Ledgers',
  },
  config: { CONFIG_LIMITS: 'Config files' },
  prompt: {
    PROMPT_LIMITS: 'Prompts',
    SKILL_LIMITS: 'Skills',
    MEMORY_LIMITS: 'Memory',
  },
  tool: {
    FETCH_LIMITS: 'fetch_url',
    PATCH_LIMITS: 'apply_patch',
    QUESTION_LIMITS: 'ask_user',
    SLEEP_LIMITS: 'sleep',
  },
  channel: { CHANNEL_LIMITS: 'Channels' },
  session: {
    SESSION_LIMITS: 'Limits of sessions',
    SCHEDULE_LIMITS: 'Limits of schedules',
  },
  background: { BACKGROUND_LIMITS: 'Background commands' },
  gateway: { GATEWAY_LIMITS: 'perdure mcp' },
  http: { HTTP_LIMITS: 'perdure serve' },
  mcp: {
    MCP_LIMITS: 'MCP servers',
    ELICITATION_LIMITS: 'Questions of MCP servers',
    SAMPLING_LIMITS: 'Completions for MCP servers',
  },
  guard: {
    LOOP_LIMITS: 'Loop guard',
    FAILOVER_LIMITS: 'Fail-over',
    COMPACTION_LIMITS: 'Compaction',
    READING_LIMITS: 'Completion checks',
    WORK_LIMITS: 'Work record',
    OUTPUT_SCHEMA_LIMITS: 'Output schemas',
    HOOK_LIMITS: 'Hooks and gates',
    DECISION_LIMITS: 'Approvals and holds',
    MEMO_LIMITS: 'Remembered results',
    ARTIFACT_LIMITS: 'Artifacts',
    CONTENT_LIMITS: 'Images and secrets',
    EXECUTOR_LIMITS: 'Executors',
    SUBAGENT_LIMITS: 'Sub-agents',
    HANDOFF_LIMITS: 'Handoffs',
  },
} as const satisfies Readonly<Record<string, Titles>>;

type Titles = Readonly<Partial<Record<keyof typeof limits, string>>>;

/** Each group has its heading: a new one without does not compile. */
const ALL_TITLES: Readonly<Record<keyof typeof limits, string>> = {
  ...TITLES.run,
  ...TITLES.data,
  ...TITLES.worker,
  ...TITLES.config,
  ...TITLES.prompt,
  ...TITLES.tool,
  ...TITLES.channel,
  ...TITLES.session,
  ...TITLES.background,
  ...TITLES.gateway,
  ...TITLES.http,
  ...TITLES.mcp,
  ...TITLES.guard,
};

const TITLE = new Map(Object.entries(ALL_TITLES));

function limitSections(titles: Titles, file: string): string {
  const docs = new DocComments(`contracts/constants/${file}.ts`);
  const groups = new Map(Object.entries(limits));
  return Object.keys(titles)
    .map((group) => {
      const values = Object.entries(groups.get(group) ?? {});
      const rows = values.map(([name, value]) => [`\`${name}\``, quantity(name, value), docs.ofField([group], name).text]);
      return `## ${TITLE.get(group) ?? ''}\n\n\`${group}\`: ${docs.of(group).text}\n\n${markdownTable(['name', 'value', 'meaning'], rows)}`;
    })
    .join('\n\n');
}

/** The cell of a preset that keeps the default of a setting. */
const KEPT = '·';

function presetTable(): string {
  const presets = PresetName.options.map((name) => settingsOf(PRESETS[name]));
  const settings = [...new Set(presets.flatMap((preset) => [...preset.keys()]))];
  const defaults = settingsOf({ maxTurns: limits.RUN_LIMITS.maxTurnsDefault, gate: DEFAULT_POLICY.gate, policy: DEFAULT_POLICY });
  const rows = settings.map((name) => [`\`${name}\``, defaults.get(name) ?? 'none', ...presets.map((preset) => preset.get(name) ?? KEPT)]);
  return markdownTable(['setting', 'default', ...PresetName.options], rows);
}

/** The settings of a preset by their names in an agent's definition, each as the table shows it. */
function settingsOf({ policy, ...others }: Preset): Map<string, string> {
  return new Map([...flat('', others), ...flat('', policy)]);
}

function flat(path: string, value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[path, textOf(value)]];
  return Object.entries(value).flatMap(([name, inner]) => flat(path === '' ? name : `${path}.${name}`, inner));
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(itemText).join(', ');
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'number' ? value.toLocaleString('en') : String(value);
}

function itemText(item: unknown): string {
  const rule = GateRule.safeParse(item);
  return rule.success ? `${rule.data.decision} ${rule.data.command}` : String(item);
}

/** The declarations of the kinds of faults, by their first field. */
const FAULT_KINDS: Readonly<Record<string, string>> = {
  status: 'StatusFault',
  cutAfterBytes: 'CutAfterBytesFault',
  cutAfterEvent: 'CutAfterEventFault',
  stall: 'StallFault',
  streamError: 'StreamErrorFault',
  html: 'HtmlFault',
  redirect: 'RedirectFault',
  thinkTokens: 'OverthinkFault',
};

function faultTable(): string {
  const rows = ScriptFault.options.map(({ shape }) => {
    const [first = ''] = Object.keys(shape);
    const fields = Object.entries(shape).flatMap(([name, field]) => {
      if (name === 'times') return [];
      if (name === 'stall' || name === 'html') return [`${name}: true`];
      return isOptional(field) ? [`${name}?`] : [name];
    });
    return [`\`{ ${fields.join(', ')} }\``, FAULT.of(FAULT_KINDS[first] ?? first).text];
  });
  return markdownTable(['fault', 'meaning'], rows);
}
