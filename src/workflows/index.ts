export { agentRun } from './agent-run.js';
export { agentSession } from './agent-session.js';
export { providerLedger } from './ledgers/provider-ledger.js';
export { tenantLedger } from './ledgers/tenant-ledger.js';
export { scheduledMessage } from './scheduled-message.js';
export { executeAgent, startAgent } from './start-agent.js';
