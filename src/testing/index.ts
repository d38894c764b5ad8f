export { Script, type ScriptInput, ScriptStep, type ScriptStepInput } from '../providers/scripted/script.js';
export { CutBy, EventKind, ScriptFault } from '../providers/scripted/script-fault.js';
export { checkScript, parseScript, readScript } from '../providers/scripted/script-file.js';
export type { ScriptedRequest, StepName } from '../providers/scripted/script-player.js';
export { createScriptedProvider, type ScriptedProviderOptions } from '../providers/scripted/scripted.js';
export { type LoopScriptOptions, loopScript } from './loop-script.js';
export { type RecordedRequest, startWireServer, WIRE_SERVER_KEY, type WireServer, type WireServerOptions } from './wire-server.js';
