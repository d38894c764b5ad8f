import { type GatewayApi, runPath } from '../api/gateway-api.js';
import type { DecisionSender } from '../parts/decision-sender.js';
import type { RunModel } from '../state/run-model.js';

/** Sends the decisions about the calls and questions of a run, and reads what still waits. */
export function decisionsOf(api: GatewayApi, model: RunModel, handlers: Pick<DecisionSender, 'onDecided' | 'onError'>): DecisionSender {
  const path = runPath(model.runId);
  const post = async (to: string, body: object): Promise<void> => {
    try {
      await api.post(`${path}/${to}`, body);
    } finally {
      // another person may have been faster
      await model.refreshState();
    }
  };
  const send = async (kind: 'approvals' | 'questions', callId: string, body: object): Promise<void> =>
    await post(`${kind}/${encodeURIComponent(callId)}`, body);
  return {
    approve: async (callId) => await send('approvals', callId, { decision: 'approve' }),
    deny: async (callId, reason) => await send('approvals', callId, { decision: 'deny', ...(reason === '' ? {} : { reason }) }),
    extend: async (by) => await post('extend', by),
    answer: async (callId, answer) => await send('questions', callId, { answer }),
    decline: async (callId) => await send('questions', callId, { decline: true }),
    ...handlers,
  };
}
