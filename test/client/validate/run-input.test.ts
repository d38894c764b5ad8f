import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { checkStart } from '../../../src/client/runs/start-run.js';
import { checkAddress } from '../../../src/client/temporal/connection.js';
import { checkRunId, checkRunInput } from '../../../src/client/validate/run-input.js';
import { PAYLOAD_LIMITS } from '../../../src/contracts/constants/limits.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import { RunInput } from '../../../src/contracts/schemas/run.js';
import { refusal } from '../support/refusal.js';

function holds(input: unknown): boolean {
  try {
    return RunInput.safeParse(checkRunInput(input)).success;
  } catch (error) {
    return error instanceof PerdureError;
  }
}

describe('checkRunInput', () => {
  it('D1: a schema of zod 4 is sent as JSON Schema', () => {
    const { outputSchema } = checkRunInput({ task: 'x', outputSchema: z.strictObject({ approved: z.boolean() }) });
    const properties = { approved: { type: 'boolean' } };
    expect(outputSchema).toEqual({ type: 'object', properties, required: ['approved'], additionalProperties: false });
  });

  it('A14: a file that no model should get is refused before anything is sent', () => {
    const file = { type: 'file', mime: 'image/png', dataBase64: '' } as const;
    const task = [{ type: 'text', text: 'look' }, file];
    expect(refusal(() => checkRunInput({ task }))).toEqual({
      line: 'BAD_FILE: the file of type "image/png" is empty',
      exitCode: 2,
    });
  });

  it.each([
    [0, '0'],
    [-1, '-1'],
    [1e9, '1000000000'],
    ['10', '"10"'],
    [Number.NaN, 'NaN'],
    [1.5, '1.5'],
    [null, 'null'],
  ])('B9: maxTurns %j is refused with its bounds', (maxTurns, shown) => {
    expect(refusal(() => checkRunInput({ task: 'x', maxTurns }))).toEqual({
      line: `BAD_OPTION: maxTurns: integer 1–10000, got ${shown}`,
      exitCode: 2,
    });
  });

  it.each([
    ['maxturn', ' (did you mean maxTurns?)'],
    ['max_turns', ' (did you mean maxTurns?)'],
    ['modle', ' (did you mean model?)'],
    ['zzzzzzzz', ''],
  ])('B10: unknown option %s is named, with the nearest one there is', (key, hint) => {
    expect(refusal(() => checkRunInput({ task: 'x', [key]: 1 }))).toEqual({ line: `UNKNOWN_OPTION: ${key}${hint}`, exitCode: 2 });
  });

  it.each<[string, unknown, string]>([
    ['mode', 'talk', 'BAD_OPTION: mode: dispatch or chat, got "talk"'],
    ['onBudget', 'stop', 'BAD_OPTION: onBudget: finish or ask, got "stop"'],
    ['onBudget', null, 'BAD_OPTION: onBudget: finish or ask, got null'],
    ['allowUnknownPrice', 'yes', 'BAD_OPTION: allowUnknownPrice: true or false, got "yes"'],
    ['thinking', 'hgih', 'BAD_OPTION: thinking: off, minimal, low, medium, high, or a number of tokens, got "hgih"'],
    ['thinking', 0, 'BAD_OPTION: thinking: off, minimal, low, medium, high, or a number of tokens, got 0'],
    ['fallbacks', 'openai/m', 'BAD_OPTION: fallbacks: a list of at most 16 models, as provider/model, got "openai/m"'],
    ['fallbacks', ['openai/m', 'openai/'], 'BAD_OPTION: fallbacks: provider/model, such as openai/gpt-5.4-mini, got "openai/"'],
    ['outputSchema', 'object', 'BAD_OPTION: outputSchema: a schema of zod 4, or a JSON Schema as an object, got "object"'],
    ['outputSchema', z3.object({}), 'BAD_OPTION: outputSchema: a schema of zod 3. Use zod 4, or JSON Schema.'],
    ['outputSchema', [], 'BAD_OPTION: outputSchema: a schema of zod 4, or a JSON Schema as an object, got an array'],
    ['outputSchema', { pad: 'x'.repeat(70_000) }, 'BAD_OPTION: outputSchema: at most 65536 bytes as JSON, got 70010'],
  ])('%s %j is refused with what it takes', (name, value, line) => {
    expect(refusal(() => checkRunInput({ task: 'x', [name]: value }))).toEqual({ line, exitCode: 2 });
  });

  it('what is no JSON within a schema is named with its path', () => {
    const { line } = refusal(() => checkRunInput({ task: 'x', outputSchema: { properties: { at: new Date(0) } } }));
    expect(line).toMatch(/^BAD_OPTION: outputSchema\.properties(\.at)?: .*, got an object$/u);
  });

  it.each([
    ['onbudget', 'onBudget'],
    ['output_schema', 'outputSchema'],
    ['allowUnknownPrices', 'allowUnknownPrice'],
    ['Mode', 'mode'],
  ])('B10: unknown option %s is near to %s', (key, near) => {
    expect(refusal(() => checkRunInput({ task: 'x', [key]: 1 })).line).toBe(`UNKNOWN_OPTION: ${key} (did you mean ${near}?)`);
  });

  it('the fields of the judgement are sent as they are', () => {
    const given = { mode: 'chat', outputSchema: { type: 'object' }, onBudget: 'ask', allowUnknownPrice: true } as const;
    expect(checkRunInput({ task: 'x', ...given })).toEqual({ v: 1, task: 'x', ...given });
  });

  it('an input that is nested without end is one line, not a stack that overflows', () => {
    let outputSchema: Record<string, unknown> = {};
    for (let depth = 0; depth < 100_000; depth += 1) outputSchema = { not: outputSchema };
    expect(refusal(() => checkRunInput({ task: 'x', outputSchema }))).toEqual({
      line: 'BAD_OPTION: input: nested too deeply',
      exitCode: 2,
    });
  });

  it.each(['here', './here', '../here', '~/here', ''])('D5: the relative workspace %j is refused before anything is sent', (workspace) => {
    expect(() => checkRunInput({ task: 'x', context: { workspace } })).toThrow(
      expect.objectContaining({
        code: 'BAD_OPTION',
        message: `context.workspace: an absolute path of the worker's host, got ${JSON.stringify(workspace)}`,
        exitCode: 2,
      }),
    );
  });

  it.each(['/srv/shop', 'C:\\shop', '\\\\host\\share'])('D5: the workspace %j is absolute on some worker', (workspace) => {
    expect(checkRunInput({ task: 'x', context: { workspace } })).toMatchObject({ context: { workspace } });
  });

  it('an unknown option deeper down is named with its path', () => {
    expect(refusal(() => checkRunInput({ task: 'x', context: { workspaces: '/w' } })).line).toBe('UNKNOWN_OPTION: context.workspaces');
  });

  it.each(['', '   ', '\n\t', [], [{ type: 'text', text: ' ' }]])('B1: task %j has nothing to say', (task) => {
    expect(refusal(() => checkRunInput({ task }))).toEqual({ line: 'EMPTY_MESSAGE: message has no text and no attachment', exitCode: 2 });
  });

  it('B3: a lone surrogate and NUL are made fit, everything else stays as it was', () => {
    expect(checkRunInput({ task: 'a\ud800b\u0000c\ufeff\u202e🦜 é' }).task).toBe('a\ufffdb\u2400c\ufeff\u202e🦜 é');
  });

  it.each(['', 'x'.repeat(1_001), 'a\nb', '../x', '%2e%2e', '🦜', '-x', '.x'])('B4: session %j is refused', (session) => {
    const { line, exitCode } = refusal(() => checkRunInput({ task: 'x', session }));
    expect(line).toMatch(/^BAD_SESSION_ID: use 1–200 characters of A–Z a–z 0–9 \. _ : -, not starting with \. or -/u);
    expect(line).not.toMatch(/\n/u);
    expect(line.length).toBeLessThan(200);
    expect(exitCode).toBe(2);
  });

  it('a message above the limit is refused with limit and size, before anything is sent', () => {
    const task = 'x'.repeat(PAYLOAD_LIMITS.messageBytesMax + 1);
    expect(refusal(() => checkRunInput({ task }))).toEqual({
      line: 'MESSAGE_TOO_LARGE: message: limit 1048576 bytes, got 1048577',
      exitCode: 2,
    });
  });

  it.each(['', ' ', 'openai/', '/gpt'])('model %j is none', (model) => {
    expect(refusal(() => checkRunInput({ task: 'x', model })).line).toContain('BAD_OPTION: model: provider/model');
  });

  it('a shown value is cut to 80 characters and holds no key and no control character', () => {
    const { line } = refusal(() => checkRunInput({ task: 'x', maxTurns: `\u001b]0;sk-abcdefghijkl${'y'.repeat(200)}` }));
    expect(line).not.toContain('sk-abcdefghijkl');
    expect(Array.from(line).filter((character) => character < ' ')).toEqual([]);
    expect(line.slice(line.indexOf('got ') + 4).length).toBeLessThanOrEqual(80);
  });

  it('never throws anything but a PerdureError, and what it lets through fits the contract', () => {
    const given = fc.oneof(fc.anything(), fc.record({ task: fc.string() }, { requiredKeys: [] }), fc.object());
    expect(() => fc.assert(fc.property(given, holds))).not.toThrow();
  });
});

describe('ids', () => {
  it.each(['', '../x', 'a b', '-a', 'ü', 'x'.repeat(201)])('run id %j is refused', (id) => {
    expect(refusal(() => checkRunId(id)).line).toMatch(/^BAD_RUN_ID: /u);
  });

  it('an id is made when none is given, and never twice', () => {
    const ids = Array.from({ length: 100 }, () => checkStart({ task: 'x' }).id);
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) expect(checkRunId(id)).toMatch(/^run-\d{8}-\d{6}-[0-9a-f]{8}$/u);
  });
});

describe('checkAddress', () => {
  it.each(['http://127.0.0.1:7233', '', '127.0.0.1', ':7233', '::1:7233', 'host:0', 'host:65536', 'host:port', 'a b:1'])(
    'B17: %j',
    (address) => {
      const { line, exitCode } = refusal(() => checkAddress(address));
      expect(line).toMatch(/^TEMPORAL_ADDRESS: use host:port/u);
      expect(exitCode).toBe(2);
    },
  );

  it.each(['127.0.0.1:7233', '[::1]:7233', 'my-ns.a2dd6.tmprl.cloud:7233'])('%s is one', (address) => {
    expect(checkAddress(address)).toBe(address);
  });
});
