import { createChat, echo, task } from '../peers/chat.mjs';
import { summarizeTurns } from '../statistics.mjs';

/** (1): the same conversation without Temporal, in this process: nothing survives anything. */
export async function bareLoop(arena, turns) {
  const chat = createChat(arena.model);
  const messages = [task(turns, 'bare-loop')];
  await arena.model.takeTimes();
  for (;;) {
    const answer = await chat(messages);
    messages.push(answer);
    if (!answer.tool_calls) break;
    messages.push(...answer.tool_calls.map(echo));
  }
  return { turns, ...summarizeTurns(await arena.model.takeTimes()) };
}
