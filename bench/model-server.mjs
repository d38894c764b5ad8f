// The model of the benchmark, in a process of its own: answers at once, over the real wire format of chat completions.
// A task says what is wanted: {"turns": 40, "tool": "echo", "stallAt": 1} (stallAt: this request is never answered the first time),
// or {"subagents": 5, "turns": 20}: so many sub-agents of so many turns.
import { startWireServer } from '../dist/testing/index.js';

// no two words are the same: an answer that only repeats itself is sent back
const TEXT = Array.from({ length: 200 }, (_, word) => `word${word}`)
  .join(' ')
  .slice(0, 1_024);
const stalled = new Set();
let taken = 0;

const server = await startWireServer({
  formats: ['openai-chat'],
  keepBodies: false,
  handler: ({ answered, lastUser, lastToolResult, final }) => {
    const asked = readState(lastToolResult) ?? { ...JSON.parse(lastUser), answered };
    const { turns, tool = 'echo', stallAt, subagents } = asked;
    if (subagents !== undefined) return delegating(asked);
    const isLast = final || asked.answered >= turns - 1;
    const next = JSON.stringify({ ...asked, answered: asked.answered + 1 });
    const step = { text: TEXT, chunkChars: 256, toolCalls: isLast ? [] : [{ name: tool, args: { turn: next } }] };
    if (asked.answered !== stallAt || stalled.has(lastUser)) return step;
    stalled.add(lastUser);
    return { ...step, delayMs: 10 * 60_000 };
  },
});

/** The first answer of a lead starts all its sub-agents, the second one ends the run. */
function delegating({ subagents, turns, id, answered }) {
  const tasks = Array.from({ length: answered === 0 ? subagents : 0 }, (_, at) => JSON.stringify({ turns, id: `${id}-${at}` }));
  return { text: TEXT, chunkChars: 256, toolCalls: tasks.map((task) => ({ name: 'delegate', args: { agent: 'scout', task } })) };
}

/** How far the conversation is, as the tool's last result says: a transcript that was compacted has fewer answers than were given. */
function readState(lastToolResult) {
  const line = lastToolResult.split('\n')[0];
  return line.startsWith('{') ? JSON.parse(line) : undefined;
}

process.on('message', () => {
  process.send({ times: server.requests.slice(taken).map(({ at }) => at) });
  taken = server.requests.length;
});
process.on('disconnect', () => process.exit());
process.send({ baseUrl: server.openaiBaseUrl, apiKey: server.apiKey });
