import { round } from './statistics.mjs';

/** How much slower a run is than the floor of Temporal, and how much slower a loop is that passes all messages. */
export function ratiosOf(results) {
  const ratios = {};
  for (const turns of [40, 200]) {
    const floor = results[`bare-activities-${turns}`]?.msPerTurn;
    for (const name of ['perdure', 'all-messages', 'bare-loop']) {
      const own = results[`${name}-${turns}`]?.msPerTurn;
      if (floor !== undefined && own !== undefined) ratios[`${name}-${turns} / bare-activities-${turns}`] = round(own / floor);
    }
  }
  return ratios;
}

/** The aims, each with where its figure is. */
const AIMS = [
  ['a', 'ms per turn at 40 turns, median', 'perdure-40', 'msPerTurn', '<=', 35],
  ['b', '20 runs at once, turns per second', 'many-runs', 'turnsPerSecond', '>=', 50],
  ['c', 'last 20 of 200 turns over first 20', 'perdure-200', 'growth', '<=', 1.3],
  ['d', 'history bytes per turn at 200 turns', 'perdure-200', 'historyBytesPerTurn', '<=', 6_144],
  ['d', 'history bytes per turn at 40 turns', 'perdure-40', 'historyBytesPerTurn', '<=', 6_144],
  ['e', 'kill -9 in a model call: ready to next request, ms', 'recovery', 'nextRequestAfterReadyMs', '<=', 3_000],
  ['k', 'shared server, kill -9 in a model call: to the next request, ms', 'recovery', 'shared.oneWorkerMs', '<=', 1_000],
  ['k', 'the same with --spare, ms', 'recovery', 'shared.withSpareMs', '<=', 500],
  ['k', 'the same with a second worker, ms', 'recovery', 'shared.otherWorkerMs', '<=', 1_000],
  ['k', 'model calls repeated, at most', 'recovery', 'shared.modelCallsRepeated', '<=', 1],
  ['k', 'tools repeated, at most', 'recovery', 'shared.toolsRepeated', '<=', 0],
  ['f', 'cancel reaches a running tool after, ms', 'cancel', 'reachedToolAfterMs', '<=', 2_500],
  ['g', 'worker RSS with 100 runs in a tool, MiB', 'memory', 'rssMiB', '<=', 500],
  ['h', 'command to first request, empty folder, ms', 'start-up', 'emptyFolderMs', '<=', 3_000],
  ['h', 'command to first request, server running, ms', 'start-up', 'serverRunningMs', '<=', 1_500],
  ['h', 'show, ms', 'start-up', 'showMs', '<=', 600],
  ['i', 'judgement of a turn, 400 messages, ms', 'policies', 'turnMs', '<=', 1],
  ['i', 'the same above the limit of compaction, ms', 'policies', 'pressedTurnMs', '<=', 1],
  ['i', 'compaction of 1 MB, the slowest, ms', 'policies', 'compactionMs', '<=', 50],
  ['j', 'streamed call of 1,000 chunks beside the bare SDK, ms more', 'model-calls', 'addedMs', '<=', 2],
  ['j', 'the same, MiB more', 'model-calls', 'addedMiB', '<=', 1],
  ['j', 'first token from the socket to a watcher, ms', 'model-calls', 'firstTokenMs', '<=', 10],
  ['j', 'writing a request of 400 messages, the slowest format, ms', 'model-calls', 'writeMs', '<=', 5],
  ['j', 'part of a request that a cache can give, the least', 'model-calls', 'keptShare', '>=', 0.95],
  ['k', 'turns per second beside bare activities, 1 run', 'turns', 'turnsRatio1', '>=', 0.8],
  ['k', 'the same, 20 runs', 'turns', 'turnsRatio20', '>=', 0.8],
  ['k', 'the same, 100 runs', 'turns', 'turnsRatio100', '>=', 0.8],
  ['k', 'CPU of the worker a turn beside bare activities, 1 run', 'turns', 'cpuRatio1', '<=', 1.4],
  ['k', 'the same, 20 runs', 'turns', 'cpuRatio20', '<=', 1.4],
  ['k', 'the same, 100 runs', 'turns', 'cpuRatio100', '<=', 1.4],
  ['l', 'memory of an idle run of 200, KiB', 'idle-memory', 'perdureKiB', '<=', 800],
  ['m', 'last 20 of 1,000 turns over first 20', 'perdure-1000', 'growth', '<=', 1.2],
  ['n', 'prompt of 50 skills and 8 files, cold, ms', 'prompts', 'plain.coldMs', '<=', 50],
  ['n', 'call of an MCP server over the bare SDK, ms', 'mcp-calls', 'addedMs', '<=', 3],
  ['n', 'the same with nested metadata in each skill, ms', 'prompts', 'nested.coldMs', '<=', 50],
  ['n', 'recall over 10,000 notes, ms', 'recall', 'recallMs', '<=', 20],
  ['n', 'the same, p95 ms', 'recall', 'recallP95Ms', '<=', 20],
  ['n', 'the same after a new note, ms', 'recall', 'afterNoteMs', '<=', 20],
  ['o', '5 sub-agents at once over the sum of their turns', 'sub-agents', 'ratio', '<=', 1.2],
  ['p', 'start over HTTP beside the client, ms more', 'gateway', 'addedToStartMs', '<=', 2],
  ['p', 'first token behind the model, 1,000 clients, p95 ms', 'gateway', 'firstTokenP95Ms', '<=', 100],
  ['q', 'worker RSS with 10,000 idle sessions, MiB more', 'sessions', 'idleGrowthMiB', '<=', 50],
  ['q', '50 sessions × 1,000 sends at once: lost or answered twice', 'sessions', 'lostOrDoubled', '<=', 0],
  ['q', 'the same: out of the order of acceptance', 'sessions', 'disordered', '<=', 0],
  ['q', 'the same: runs that overlap', 'sessions', 'overlapping', '<=', 0],
];

/** What was measured, for people. */
export function formatTable(results, ratios) {
  const rows = AIMS.flatMap(([letter, what, scenario, field, sign, aim]) => {
    const value = field.split('.').reduce((part, name) => part?.[name], results[scenario]);
    if (value === undefined) return [];
    const met = sign === '<=' ? value <= aim : value >= aim;
    return [[letter, what, String(value), `${sign} ${aim}`, met ? 'met' : 'MISSED']];
  });
  const compared = Object.entries(results)
    .filter(([, { msPerTurn }]) => msPerTurn !== undefined)
    .map(([name, { turns, msPerTurn, meanMsPerTurn, growth, historyBytesPerTurn, ended }]) => [
      name,
      String(turns),
      String(msPerTurn),
      String(meanMsPerTurn),
      String(growth),
      String(historyBytesPerTurn ?? '-'),
      ended ?? '',
    ]);
  return [
    columns([['', 'measure', 'value', 'aim', ''], ...rows]),
    columns([['scenario', 'turns', 'ms/turn', 'mean', 'last/first 20', 'history B/turn', ''], ...compared]),
    columns([['ratio of ms/turn', ''], ...Object.entries(ratios).map(([name, value]) => [name, String(value)])]),
    columns([['runs at once', 'worker', 'turns/s', 'CPU ms/turn'], ...loadRows(results.turns ?? {})]),
  ].join('\n\n');
}

function loadRows(measured) {
  const loads = Object.entries(measured).filter(([name]) => name.startsWith('at'));
  return loads.flatMap(([name, peers]) =>
    Object.entries(peers).map(([peer, { turnsPerSecond, cpuMsPerTurn }]) => [
      name.slice('at'.length),
      peer,
      String(turnsPerSecond),
      String(cpuMsPerTurn),
    ]),
  );
}

function columns(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
