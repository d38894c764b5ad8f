import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FormatServer, type WireEvent, WireRefusal } from '../providers/format/format-server.js';
import { type FaultPoint, faultPoint } from '../providers/scripted/inject-fault.js';
import type { WireFault } from '../providers/scripted/script-fault.js';

/** An answer as it goes over the wire. */
export interface Outgoing {
  readonly format: FormatServer;
  readonly contentType: string;
  readonly events: readonly WireEvent[];
  readonly chunkDelayMs: number;
  readonly fault?: WireFault;
  /** Aborted when the client is gone or the server closes. */
  readonly signal: AbortSignal;
}

/**
 * Sends an answer with the fault that is due. Resolves when all is sent or the connection is cut; rejects with the signal's abort
 * when the client leaves. Throws a WireRefusal for a status fault, and for a fault after an event that this answer does not have:
 * a fault that cannot hit is a mistake of its writer.
 */
export async function sendAnswer(response: ServerResponse, outgoing: Outgoing): Promise<void> {
  const { fault } = outgoing;
  if (!fault) return await sendAll(response, outgoing, outgoing.events.map(encode));
  if ('status' in fault) throw statusRefusal(fault, outgoing.format);
  if ('html' in fault) return sendPage(response);
  if ('redirect' in fault) return void response.writeHead(307, { location: fault.redirect }).end();
  const before = chunksBefore(outgoing.events, faultPoint(fault));
  if ('stall' in fault) return await stall(response, outgoing, before, fault.pingEveryMs);
  if ('streamError' in fault) {
    const error = { type: fault.streamError, message: fault.message, eventsBefore: before.length };
    const errorEvent = Buffer.from(outgoing.format.errorEvent(error));
    return await sendAll(response, outgoing, [...before, errorEvent]);
  }
  await cut(response, outgoing, before, fault.by);
}

async function sendAll(response: ServerResponse, outgoing: Outgoing, chunks: readonly Buffer[]): Promise<void> {
  startBody(response, outgoing);
  await writeChunks(response, outgoing, chunks);
  response.end();
}

function startBody(response: ServerResponse, { contentType }: Outgoing): void {
  response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-cache' });
  response.flushHeaders();
}

/** At full speed all is one write; with a delay each event is its own. */
async function writeChunks(response: ServerResponse, { chunkDelayMs, signal }: Outgoing, chunks: readonly Buffer[]): Promise<void> {
  if (chunkDelayMs === 0) return await write(response, Buffer.concat(chunks));
  for (const chunk of chunks) {
    await sleep(chunkDelayMs, undefined, { signal });
    await write(response, chunk);
  }
}

async function write(response: ServerResponse, chunk: Buffer): Promise<void> {
  if (chunk.length === 0) return;
  await new Promise<void>((resolve, reject) => {
    response.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

async function cut(response: ServerResponse, outgoing: Outgoing, before: readonly Buffer[], by: 'end' | 'close' | 'reset'): Promise<void> {
  const isEmpty = before.every((chunk) => chunk.length === 0);
  if (by === 'end') return await sendAll(response, outgoing, before);
  if (!isEmpty) {
    startBody(response, outgoing);
    await writeChunks(response, outgoing, before);
  }
  if (by === 'close') response.socket?.destroySoon();
  else response.socket?.resetAndDestroy();
}

async function stall(
  response: ServerResponse,
  outgoing: Outgoing,
  before: readonly Buffer[],
  pingEveryMs: number | undefined,
): Promise<void> {
  const { signal, format } = outgoing;
  if (before.length > 0 || pingEveryMs !== undefined) startBody(response, outgoing);
  await writeChunks(response, outgoing, before);
  while (!signal.aborted) {
    await sleep(pingEveryMs ?? 60_000, undefined, { signal });
    if (pingEveryMs !== undefined) await write(response, Buffer.from(format.ping));
  }
}

function chunksBefore(events: readonly WireEvent[], point: FaultPoint): readonly Buffer[] {
  if (point.kind === 'at-once') return [];
  if (point.kind === 'bytes') return [Buffer.concat(events.map(encode)).subarray(0, point.bytes)];
  const index = events.findIndex((event) => event.kind === point.event);
  if (index === -1) throw new WireRefusal(400, `the fault is set after "${point.event}", and this answer has no such event`);
  return events.slice(0, index + 1).map(encode);
}

function encode(event: WireEvent): Buffer {
  return Buffer.from(event.text);
}

function statusRefusal(fault: Extract<WireFault, { status: number }>, format: FormatServer): WireRefusal {
  const overflow = fault.code === 'context_length_exceeded' ? format.overflowMessage : undefined;
  return new WireRefusal(fault.status, fault.message ?? overflow ?? `The server answered with status ${fault.status}.`, {
    ...(fault.code === undefined ? {} : { code: fault.code }),
    ...(fault.retryAfter === undefined ? {} : { retryAfter: String(fault.retryAfter) }),
  });
}

function sendPage(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title><p>Sign in to use this network.');
}
