// npm run bench: measures Perdure on this machine, beside the machine's own floor, all against one embedded server in one run.
// Prints a JSON document on stdout and a table on stderr. `npm run bench -- cancel memory` measures only what is named; `--save NAME` keeps
// the figures in results/NAME.json and NAME.md (a version, or "unreleased"); `--against DIST` measures the turns of another build too.
import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { openArena } from './arena.mjs';
import { saveResults } from './save-results.mjs';
import { allMessages } from './scenarios/all-messages.mjs';
import { bareActivities } from './scenarios/bare-activities.mjs';
import { bareLoop } from './scenarios/bare-loop.mjs';
import { cancel } from './scenarios/cancel.mjs';
import { gateway } from './scenarios/gateway.mjs';
import { idleMemory } from './scenarios/idle-memory.mjs';
import { manyRuns } from './scenarios/many-runs.mjs';
import { mcpCalls } from './scenarios/mcp-calls.mjs';
import { memory } from './scenarios/memory.mjs';
import { modelCalls } from './scenarios/model-calls.mjs';
import { oneRun } from './scenarios/one-run.mjs';
import { policies } from './scenarios/policies.mjs';
import { prompts } from './scenarios/prompts.mjs';
import { recall } from './scenarios/recall.mjs';
import { recovery } from './scenarios/recovery.mjs';
import { sessions } from './scenarios/sessions.mjs';
import { sharedRecovery } from './scenarios/shared-recovery.mjs';
import { startUp } from './scenarios/start-up.mjs';
import { subAgents } from './scenarios/sub-agents.mjs';
import { turns } from './scenarios/turns.mjs';
import { formatTable, ratiosOf } from './table.mjs';

const SCENARIOS = {
  'warm-up': (arena) => oneRun(arena, 20),
  'bare-loop-40': (arena) => bareLoop(arena, 40),
  'bare-activities-40': (arena) => bareActivities(arena, 40),
  'perdure-40': (arena) => oneRun(arena, 40),
  'all-messages-40': (arena) => allMessages(arena, 40),
  'bare-loop-200': (arena) => bareLoop(arena, 200),
  'bare-activities-200': (arena) => bareActivities(arena, 200),
  'perdure-200': (arena) => oneRun(arena, 200),
  'all-messages-200': (arena) => allMessages(arena, 200),
  'perdure-1000': (arena) => oneRun(arena, 1_000),
  'many-runs': (arena) => manyRuns(arena),
  turns: (arena) => turns(arena, options),
  'start-up': (arena) => startUp(arena),
  recovery: async (arena) => ({ ...(await recovery(arena)), shared: await sharedRecovery(arena) }),
  cancel: (arena) => cancel(arena),
  memory: (arena) => memory(arena),
  'idle-memory': (arena) => idleMemory(arena),
  policies: () => policies(),
  'model-calls': () => modelCalls(),
  prompts: () => prompts(),
  recall: () => recall(),
  'mcp-calls': () => mcpCalls(),
  'sub-agents': (arena) => subAgents(arena),
  gateway: (arena) => gateway(arena),
  sessions: (arena) => sessions(arena),
};

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { save: { type: 'string' }, against: { type: 'string' }, rounds: { type: 'string' }, loads: { type: 'string' } },
});
const unknown = wanted.filter((name) => !Object.hasOwn(SCENARIOS, name));
if (unknown.length > 0) throw new Error(`no scenario ${unknown.join(', ')}; there are: ${Object.keys(SCENARIOS).join(', ')}`);

const say = (line) => console.error(line);
const arena = await openArena(say);
const machine = {
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  load: loadavg()[0],
};
const results = {};
try {
  for (const [name, measure] of Object.entries(SCENARIOS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    say(`measuring ${name} …`);
    results[name] = await measure(arena);
  }
} finally {
  await arena.close();
}
const ratios = ratiosOf(results);
console.log(JSON.stringify({ machine, results, ratios }, null, 2));
say(formatTable(results, ratios));
if (options.save !== undefined) await saveResults({ name: options.save, machine, results });
