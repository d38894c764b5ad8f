// The workflows of this application. An agent works as a child of one of them.
import { proxyActivities } from '@temporalio/workflow';
import { executeAgent } from 'perdure/workflows';

export { agentRun } from 'perdure/workflows';

const { findOrder, sendLetter } = proxyActivities({ startToCloseTimeout: '10 seconds' });

/** Answers a complaint. The agent decides and writes; the application knows the order, and sends the letter. */
export async function answerComplaint({ id, order, text }) {
  const { customer, item } = await findOrder(order);
  const task = `${customer} complains about order ${order}, ${item}: ${text}`;
  const { reason, output } = await executeAgent({ task, agent: 'complaints' }, { workflowId: `complaint-${id}-agent` });
  // a limit was reached, or the run was cancelled: a person has to write
  if (reason !== 'completed') return { reason };
  await sendLetter({ id, to: customer, text: output });
  return { reason, letter: output };
}
