import { proxyActivities } from '@temporalio/workflow';

const { askBare, callBare, askWithAll, callTool } = proxyActivities({ startToCloseTimeout: '1 minute' });

/** Two activities a turn and nothing else: the floor of Temporal. */
export async function bareActivities(name, turns, tool) {
  for (;;) {
    const { tool_calls: calls = [] } = await askBare(name, turns, tool);
    if (calls.length === 0) return;
    for (const call of calls) await callBare(name, call);
  }
}

/** A loop that keeps the messages and gives all of them to each model call. */
export async function allMessages(messages) {
  for (;;) {
    const answer = await askWithAll(messages);
    messages.push(answer);
    if (!answer.tool_calls) return;
    for (const call of answer.tool_calls) messages.push(await callTool(call));
  }
}
