import { toolCallsOf } from '../../dist/contracts/message-text.js';
import { DEFAULT_POLICY } from '../../dist/contracts/schemas/policy.js';
import { estimateTokens } from '../../dist/contracts/text/estimate-tokens.js';
import { judgeAnswer } from '../../dist/workflows/policies/answer/judge-answer.js';
import { compactionNeeded } from '../../dist/workflows/policies/compaction/compaction-trigger.js';
import { shortenLargestResult } from '../../dist/workflows/policies/compaction/shorten-result.js';
import { planSummary } from '../../dist/workflows/policies/compaction/summary-plan.js';
import { tieredCompactor } from '../../dist/workflows/policies/compaction/tiered-compactor.js';
import { trimCompactor } from '../../dist/workflows/policies/compaction/trim-compactor.js';
import { judgeLoop, rememberTurn } from '../../dist/workflows/policies/loop/loop-guard.js';
import { shouldWarn } from '../../dist/workflows/policies/stop/finalise-warning.js';
import { recall, remember } from '../../dist/workflows/policies/tools/memo.js';
import { gateTool } from '../../dist/workflows/policies/tools/tool-gate.js';
import { isPaired } from '../../dist/workflows/policies/transcript/repair-transcript.js';
import { longTranscript } from '../long-transcript.mjs';
import { round, timesOf } from '../statistics.mjs';

const TASK = 'task';

/** (i): what the loop's judgement costs a turn of a long run, and what it costs to make a megabyte of messages shorter. Pure functions. */
export function policies() {
  const turn = judgedTurn({ window: 1_000_000 });
  const pressedTurn = judgedTurn({ window: 150_000 });
  const long = longTranscript({ messages: 400, resultChars: 5_000 });
  const goal = { tokensMax: 50_000, keepRecentTokens: 20_000, taskId: TASK };
  const least = { tokensMax: 0, keepRecentTokens: 0, taskId: TASK };
  const compactions = {
    trim: () => trimCompactor(long, goal),
    tiered: () => tieredCompactor(long, goal),
    tieredToTheEnd: () => tieredCompactor(long, least),
    planSummary: () => planSummary(long, goal),
    shortenLargest: () => shortenLargestResult(long),
  };
  const times = Object.fromEntries(Object.entries(compactions).map(([name, work]) => [name, timesOf(work, 30)]));
  const compacted = [trimCompactor(long, goal), tieredCompactor(long, goal), tieredCompactor(long, least)];
  if (compacted.some((messages) => messages.length === 0 || !isPaired(messages))) throw new Error('a compaction broke the transcript');
  return {
    messages: 400,
    turnMs: timesOf(turn, 1_000).median,
    // above the limit the messages are looked over as well
    pressedTurnMs: timesOf(pressedTurn, 1_000).median,
    megabytes: round(JSON.stringify(long).length / 1_000_000),
    compactions: times,
    compactionMs: Math.max(...Object.values(times).map(({ median }) => median)),
    // as a run meets it: its first pass
    firstCompactionMs: Math.max(...Object.values(times).map(({ first }) => first)),
    tokens: [long, ...compacted].map(estimateTokens),
  };
}

/** One turn's decisions over a transcript of 400 messages, in the order of the loop, for an answer that calls four tools. */
function judgedTurn({ window }) {
  const messages = longTranscript({ messages: 400, calls: 4, resultChars: 2_000 });
  const answer = messages.findLast(({ role }) => role === 'assistant');
  const calls = toolCallsOf(answer);
  const results = messages.slice(-calls.length);
  const tool = { name: 'read_file', effect: 'read', pure: true };
  const facts = {
    messages,
    messageTokens: estimateTokens(messages),
    setupTokens: 5_000,
    window,
    taskId: TASK,
    policy: DEFAULT_POLICY.compaction,
    compactions: 0,
    latchedUntil: 0,
  };
  const memo = new Map();
  let memory = { turns: [] };
  let turn = 0;
  return () => {
    turn += 1;
    const fresh = calls.map((call) => ({ ...call, args: { ...call.args, path: `src/${letters(turn)}/${call.callId}.ts` } }));
    shouldWarn({ warned: false, remainingTurns: 100, deadlineMs: undefined, leftMs: undefined });
    compactionNeeded(facts);
    judgeAnswer({ ...answer, parts: fresh }, 'tool_calls', { truncatedAnswers: 0, pausedAnswers: 0, emptyAnswers: 0 });
    if (judgeLoop(memory, fresh, DEFAULT_POLICY.loop).kind !== 'go') throw new Error('calls that differ are no loop');
    for (const call of fresh) {
      gateTool(DEFAULT_POLICY.gate, tool, call.args);
      if (recall(memo, call, tool) !== undefined) throw new Error('a new call was remembered');
      remember(memo, { call, tool, isError: false });
    }
    memory = rememberTurn(memory, fresh, results);
  };
}

/** A number in letters: the loop guard puts digits aside. */
function letters(number) {
  return [...number.toString()].map((digit) => String.fromCharCode(97 + Number(digit))).join('');
}
