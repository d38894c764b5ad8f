export { agentRun } from './agent-run.js';
export { executeAgent, startAgent } from './start-agent.js';
