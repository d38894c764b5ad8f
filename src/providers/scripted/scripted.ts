import { textOf } from '../../contracts/message-text.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Message, Part } from '../../contracts/schemas/message.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from '../contract/provider.js';
import { toolCallPart } from '../transcript/parse-arguments.js';
import { abortableSleep, type FaultPoint, faultPoint, throwFault } from './inject-fault.js';
import type { Script } from './script.js';
import { readScript, readScriptWithin } from './script-file.js';
import { type AnswerPiece, answerPieces } from './script-pieces.js';
import { conversationName, type ScriptedAnswer, type ScriptedReply, type ScriptedRequest, ScriptPlayer } from './script-player.js';

/** Where a scripted model's answers come from: a JSON or YAML file, in the folder `within` if there is one, or a script already checked. */
export type ScriptedProviderOptions = { readonly file: string; readonly within?: string } | { readonly script: Script };

/**
 * Makes a model that plays a script in this process, without any key. The file is read with the first call and kept; a missing or
 * broken one is a `Model.BadRequest` with all its problems. Faults give the errors that the same fault gives over the wire.
 */
export function createScriptedProvider(options: ScriptedProviderOptions): ModelProvider {
  let player: Promise<ScriptPlayer> | undefined;
  return {
    async call(request) {
      request.signal.throwIfAborted();
      player ??= loadPlayer(options);
      try {
        return await playAnswer((await player).play(viewOf(request)), request);
      } catch (error) {
        if (!(error instanceof PerdureError)) throw error;
        player = undefined; // the file may be right the next time
        throw new ModelError('Model.BadRequest', `${error.code}: ${error.message}`, { cause: error });
      }
    },
  };
}

async function loadPlayer(options: ScriptedProviderOptions): Promise<ScriptPlayer> {
  if ('script' in options) return new ScriptPlayer(options.script);
  const { file, within } = options;
  return new ScriptPlayer(await (within === undefined ? readScript(file) : readScriptWithin(within, file)));
}

function viewOf({ prompt, messages, tools, toolChoice }: ModelRequest): ScriptedRequest {
  const lastUser = messages.findLast((message) => message.role === 'user');
  return {
    conversation: conversationName(prompt, messages[0]),
    answered: messages.filter((message) => message.role === 'assistant').length,
    lastUser: lastUser ? textOf(lastUser) : '',
    lastToolResult: lastToolResult(messages),
    tools: tools.map((tool) => tool.name),
    final: toolChoice === 'none',
    inputChars: () => prompt.length + JSON.stringify(messages).length + JSON.stringify(tools).length,
  };
}

function lastToolResult(messages: readonly Message[]): string {
  const result = messages.flatMap((message) => message.parts).findLast((part) => part.type === 'tool_result');
  return result?.parts.map((part) => (part.type === 'text' ? part.text : part.type === 'artifact' ? part.head : '')).join('\n') ?? '';
}

async function playAnswer(reply: ScriptedReply, request: ModelRequest): Promise<ModelAnswer> {
  if (reply.kind === 'refused') throw new ModelError('Model.BadRequest', reply.problem, { status: 400 });
  if (reply.delayMs > 0) await abortableSleep(reply.delayMs, request.signal);
  const point = reply.fault && faultPoint(reply.fault);
  const pieces = answerPieces(reply.answer);
  for (const piece of point ? piecesBefore(pieces, point) : pieces) {
    if (reply.chunkDelayMs > 0) await abortableSleep(reply.chunkDelayMs, request.signal);
    request.signal.throwIfAborted();
    showPiece(piece, request);
  }
  // whoever watched the pieces may have had enough
  request.signal.throwIfAborted();
  return reply.fault ? await throwFault(reply.fault, request) : modelAnswer(reply.answer);
}

/** What still streams before a fault. An answer without such an event is cut at its end: it never counts as complete. */
function piecesBefore(pieces: readonly AnswerPiece[], point: FaultPoint): readonly AnswerPiece[] {
  if (point.kind === 'at-once') return [];
  if (point.kind === 'event') {
    const index = pieces.findIndex((piece) => piece.kind === point.event);
    return index === -1 ? pieces : pieces.slice(0, index + 1);
  }
  let bytes = 0;
  const end = pieces.findIndex((piece) => {
    bytes += 'text' in piece ? Buffer.byteLength(piece.text) : 0;
    return bytes > point.bytes;
  });
  return end === -1 ? pieces : pieces.slice(0, end);
}

function showPiece(piece: AnswerPiece, { onDelta }: ModelRequest): void {
  if (piece.kind === 'text' || piece.kind === 'thinking') onDelta({ type: piece.kind, text: piece.text });
  if (piece.kind === 'tool_call') onDelta({ type: 'tool_call', name: piece.name });
}

function modelAnswer(answer: ScriptedAnswer): ModelAnswer {
  const parts: Part[] = [];
  if (answer.thinking) parts.push({ type: 'thinking', text: answer.thinking });
  if (answer.text) parts.push({ type: 'text', text: answer.text });
  for (const call of answer.toolCalls) parts.push(toolCallPart(call.id, call.name, call.argsText));
  return { parts, stop: answer.stop, ...(answer.usage ? { usage: answer.usage } : {}) };
}
