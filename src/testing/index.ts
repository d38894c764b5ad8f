export { Script, type ScriptInput, ScriptStep, type ScriptStepInput } from '../activities/providers/script.js';
export { CutBy, EventKind, ScriptFault } from '../activities/providers/script-fault.js';
export { checkScript, parseScript, readScript } from '../activities/providers/script-file.js';
export type { ScriptedRequest, StepName } from '../activities/providers/script-player.js';
export { createScriptedProvider, type ScriptedProviderOptions } from '../activities/providers/scripted.js';
export { type LoopScriptOptions, loopScript } from './loop-script.js';
export { type RecordedRequest, startWireServer, WIRE_SERVER_KEY, type WireServer, type WireServerOptions } from './wire-server.js';
