export { agentRun } from './agent-run.js';
export { providerLedger } from './ledgers/provider-ledger.js';
export { tenantLedger } from './ledgers/tenant-ledger.js';
export { executeAgent, startAgent } from './start-agent.js';
