import { z } from 'zod';
import { WireRefusal } from '../../../format/format-server.js';
import type { ChatTemplate } from '../../../templates/chat-template.js';

/** A turn as a model would read it. */
export interface PromptTurn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
}

/** What a prompt says to a model of its template. */
export interface ReadPrompt {
  readonly template: ChatTemplate['name'];
  readonly turns: readonly PromptTurn[];
  readonly tools: readonly string[];
}

const CHATML_TURN = /<\|im_start\|>(system|user|assistant)\n([^]*?)<\|im_end\|>\n/uy;
const CHATML_OPEN = /^<\|im_start\|>assistant\n(?:<think>\n\n<\/think>\n\n)?$/u;
const GEMMA_TURN = /<start_of_turn>(user|model)\n([^]*?)<end_of_turn>\n/uy;
const GEMMA_OPEN = /^<start_of_turn>model\n$/u;
const PLAIN_OPEN = '\n\nAssistant:';

const CALL = { chatml: /<tool_call>\n([^]*?)\n<\/tool_call>/gu, gemma: /^```tool_code\n([^]*?)\n```$/gmu };
const RESULT = { chatml: /<tool_response>\n([^]*?)\n<\/tool_response>/gu, gemma: /^```tool_output\n([^]*?)\n```$/gmu };

const ToldTool = z.union([
  z.strictObject({ type: z.literal('function'), function: z.looseObject({ name: z.string(), parameters: z.looseObject({}) }) }),
  z.strictObject({ name: z.string(), description: z.string(), parameters: z.looseObject({}) }),
]);
const WrittenCall = z.union([
  z.strictObject({ name: z.string(), arguments: z.looseObject({}) }),
  z.strictObject({ name: z.string(), parameters: z.looseObject({}) }),
]);

/**
 * Reads a prompt back into turns, as strictly as a model was trained on them: no mark of a turn within another, the model's own turn
 * open at the end, and to each call its result. Throws a WireRefusal for a prompt that no template writes.
 */
export function readPrompt(prompt: string): ReadPrompt {
  if (prompt.startsWith('<|im_start|>')) return readChatml(prompt);
  return prompt.startsWith('<start_of_turn>') ? readGemma(prompt) : readPlain(prompt);
}

/** The results that a turn of the user tells of. */
export function resultsIn({ role, text }: PromptTurn, template: ChatTemplate['name']): readonly string[] {
  if (role !== 'user' || template === 'plain') return [];
  return [...text.matchAll(template === 'qwen3' ? RESULT.chatml : RESULT.gemma)].map(([, result]) => result ?? '');
}

function readChatml(prompt: string): ReadPrompt {
  const turns = splitTurns(prompt, { turn: CHATML_TURN, open: CHATML_OPEN, mark: /<\|im_(?:start|end)\|>/u });
  if (turns.slice(1).some(({ role }) => role === 'system')) throw refuse('System message must be at the beginning.');
  const [first] = turns;
  const toolText = first?.role === 'system' ? /<tools>\n([^]*?)\n<\/tools>/u.exec(first.text)?.[1] : undefined;
  checkCalls(turns, 'qwen3');
  return { template: 'qwen3', turns, tools: toolText === undefined ? [] : toolText.split('\n').map(toolIn) };
}

function readGemma(prompt: string): ReadPrompt {
  const turns = splitTurns(prompt, { turn: GEMMA_TURN, open: GEMMA_OPEN, mark: /<(?:start|end)_of_turn>/u });
  if (turns.some(({ role }, index) => role !== (index % 2 === 0 ? 'user' : 'assistant'))) {
    throw refuse('Conversation roles must alternate user/assistant/user/assistant/...');
  }
  checkCalls(turns, 'gemma');
  const toolText = turns[0]?.text.split('\n').filter((line) => line.startsWith('{"name": "')) ?? [];
  return { template: 'gemma', turns, tools: toolText.map(toolIn) };
}

function readPlain(prompt: string): ReadPrompt {
  if (!prompt.endsWith(PLAIN_OPEN)) throw refuse('The prompt does not end with the turn of the assistant.');
  const turns = prompt
    .slice(0, -PLAIN_OPEN.length)
    .split(/\n\n(?=(?:User|Assistant):)/u)
    .map((text): PromptTurn => {
      const speaker = /^(User|Assistant): ?/u.exec(text);
      if (!speaker) return { role: 'system', text };
      return { role: speaker[1] === 'User' ? 'user' : 'assistant', text: text.slice(speaker[0].length) };
    });
  return { template: 'plain', turns, tools: [] };
}

interface TurnMarks {
  readonly turn: RegExp;
  readonly open: RegExp;
  readonly mark: RegExp;
}

function splitTurns(prompt: string, { turn, open, mark }: TurnMarks): PromptTurn[] {
  const turns: PromptTurn[] = [];
  turn.lastIndex = 0;
  let end = 0;
  for (let found = turn.exec(prompt); found; found = turn.exec(prompt)) {
    const [, role, text = ''] = found;
    if (mark.test(text)) throw refuse(`A mark of a turn stands within turn ${turns.length}.`);
    turns.push({ role: role === 'system' || role === 'user' ? role : 'assistant', text });
    end = turn.lastIndex;
  }
  if (!open.test(prompt.slice(end))) throw refuse(`After turn ${turns.length} the prompt does not go on as its template does.`);
  if (turns.every(({ role }) => role === 'system'))
    throw refuse('Conversation must have at least one message that is not a system message.');
  return turns;
}

/** Each call is one that the model could have written, and has its result in the next turn. */
function checkCalls(turns: readonly PromptTurn[], template: 'qwen3' | 'gemma'): void {
  for (const [index, turn] of turns.entries()) {
    if (turn.role !== 'assistant') continue;
    const calls = [...turn.text.matchAll(template === 'qwen3' ? CALL.chatml : CALL.gemma)].map(([, call]) => call ?? '');
    for (const call of calls) if (!WrittenCall.safeParse(parsed(call)).success) throw refuse(`Turn ${index} holds a call that is none.`);
    const next = turns[index + 1];
    const results = next ? resultsIn(next, template).length : 0;
    if (calls.length !== results) throw refuse(`Turn ${index} holds ${calls.length} calls, and the next one ${results} results.`);
  }
}

function toolIn(line: string): string {
  const tool = ToldTool.safeParse(parsed(line)).data;
  if (!tool) throw refuse('A tool is told in words that are no tool.');
  return 'function' in tool ? tool.function.name : tool.name;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refuse(`What should be JSON is none: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function refuse(message: string): WireRefusal {
  return new WireRefusal(400, message, { param: 'prompt' });
}
