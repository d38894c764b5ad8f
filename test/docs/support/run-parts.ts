import { readFileSync } from 'node:fs';
import { FAILURES } from '../../../src/contracts/failures.js';
import { handlers, SEARCH_ATTRIBUTES } from '../../../src/contracts/index.js';
import { DecidedApproval, PendingApproval } from '../../../src/contracts/schemas/approval.js';
import { Message, Part } from '../../../src/contracts/schemas/message.js';
import { Usage } from '../../../src/contracts/schemas/model.js';
import { ModelSpending, ModelSwitch } from '../../../src/contracts/schemas/model-route.js';
import { AnsweredQuestion, PendingQuestion } from '../../../src/contracts/schemas/question.js';
import { RunBounds, RunInput, RunResult, SteerRecord } from '../../../src/contracts/schemas/run.js';
import { Step } from '../../../src/contracts/schemas/step.js';
import { ToolDescriptor } from '../../../src/contracts/schemas/tool.js';
import { SIGNALS, UPDATES, verbsOf } from '../../../src/contracts/verbs/index.js';
import type { AnyVerb } from '../../../src/contracts/verbs/verb.js';
import { DocComments } from './doc-comments.js';
import { interfaceTable, schemaTable } from './field-table.js';
import { markdownTable } from './markdown.js';
import { SCHEMA_NAMES } from './schema-names.js';
import { isOptional } from './schema-type.js';

const RUN = new DocComments('contracts/schemas/run.ts');
const PAGE = new DocComments('contracts/schemas/page.ts');
const APPROVAL = new DocComments('contracts/schemas/approval.ts');
const QUESTION = new DocComments('contracts/schemas/question.ts');
const ROUTE = new DocComments('contracts/schemas/model-route.ts');
const EVENT = new DocComments('contracts/event.ts');
const MESSAGE = new DocComments('contracts/schemas/message.ts');
const HANDLERS = new DocComments('contracts/handlers.ts');
const names = SCHEMA_NAMES;
const hasDefaults = false;

/** The generated parts of the pages about runs. */
export const RUN_PARTS: Readonly<Record<string, () => string>> = {
  'run-input': () => schemaTable(RunInput, { docs: RUN, declarations: ['RunInput'] }, { names, types: { outputSchema: 'JSON Schema' } }),
  'run-bounds': () => schemaTable(RunBounds, { docs: RUN, declarations: ['RunBounds'] }, { names }),
  'run-result': () => schemaTable(RunResult, { docs: RUN, declarations: ['RunResult'] }, { names, hasDefaults }),
  usage: () => schemaTable(Usage, { docs: new DocComments('contracts/schemas/model.ts'), declarations: ['Usage'] }, { names, hasDefaults }),
  'model-spending': () => schemaTable(ModelSpending, { docs: ROUTE, declarations: ['ModelSpending'] }, { names, hasDefaults }),
  'model-switch': () => schemaTable(ModelSwitch, { docs: ROUTE, declarations: ['ModelSwitch'] }, { names, hasDefaults }),
  failures: () => failureTable(),
  'steer-record': () => schemaTable(SteerRecord, { docs: RUN, declarations: ['SteerRecord'] }, { names, hasDefaults }),
  'steer-input': () => interfaceTable(RUN, 'SteerInput', { hasDefaults: true }),
  'hold-input': () => interfaceTable(RUN, 'HoldInput', { hasDefaults: true }),
  'extend-input': () => interfaceTable(RUN, 'ExtendInput', { hasDefaults: true }),
  'answer-input': () => interfaceTable(QUESTION, 'AnswerInput', { hasDefaults: true }),
  'approve-input': () => interfaceTable(APPROVAL, 'ApproveInput', { hasDefaults: true }),
  'deny-input': () => interfaceTable(APPROVAL, 'DenyInput', { hasDefaults: true }),
  receipt: () => interfaceTable(RUN, 'Receipt', { hasDefaults }),
  progress: () => interfaceTable(RUN, 'Progress', { hasDefaults }),
  'cooling-model': () => interfaceTable(RUN, 'CoolingModel', { hasDefaults }),
  'transcript-page': () => interfaceTable(PAGE, 'TranscriptPage', { hasDefaults }),
  'event-page': () => interfaceTable(EVENT, 'EventPage', { hasDefaults }),
  'pending-approval': () => schemaTable(PendingApproval, { docs: APPROVAL, declarations: ['PendingApproval'] }, { names, hasDefaults }),
  'pending-question': () => schemaTable(PendingQuestion, { docs: QUESTION, declarations: ['PendingQuestion'] }, { names, hasDefaults }),
  'answered-question': () => schemaTable(AnsweredQuestion, { docs: QUESTION, declarations: ['AnsweredQuestion'] }, { names, hasDefaults }),
  'decided-approval': () => schemaTable(DecidedApproval, { docs: APPROVAL, declarations: ['DecidedApproval'] }, { names, hasDefaults }),
  step: () => schemaTable(Step, { docs: new DocComments('contracts/schemas/step.ts'), declarations: ['Step'] }, { names, hasDefaults }),
  'run-setup': () => interfaceTable(new DocComments('contracts/schemas/prepared-run.ts'), 'RunSetup', { hasDefaults }),
  signals: () => handlerTable('signal'),
  updates: () => handlerTable('update'),
  queries: () => handlerTable('query'),
  'search-attributes': () => searchAttributeTable(),
  message: () => schemaTable(Message, { docs: MESSAGE, declarations: ['Message'] }, { names, hasDefaults }),
  parts: () => partTable(),
  'tool-descriptor': () =>
    schemaTable(
      ToolDescriptor,
      { docs: new DocComments('contracts/schemas/tool.ts'), declarations: ['ToolDescriptor'] },
      { names, hasDefaults },
    ),
  events: () => eventTable(),
};

/** The parts of messages. The declaration of type `tool_call` is `ToolCallPart`. */
function partTable(): string {
  const rows = Part.options.map(({ shape }) => {
    const type = shape.type.value;
    const fields = Object.entries(shape).flatMap(([name, field]) => (name === 'type' ? [] : [isOptional(field) ? `${name}?` : name]));
    const declaration = `${type.replaceAll(/(?:^|_)[a-z]/gu, (start) => start.replace('_', '').toUpperCase())}Part`;
    return [`\`${type}\``, fields.map((name) => `\`${name}\``).join(', '), MESSAGE.of(declaration).text];
  });
  return markdownTable(['type', 'fields', 'meaning'], rows);
}

function failureTable(): string {
  const docs = new DocComments('contracts/failures.ts');
  const rows = Object.entries(FAILURES).map(([type, { retryable }]) => [
    `\`${type}\``,
    retryable ? 'yes' : 'no',
    docs.ofField(['FAILURES'], type).text,
  ]);
  return markdownTable(['type', 'retried', 'meaning'], rows);
}

function searchAttributeTable(): string {
  const docs = new DocComments('contracts/constants/search-attributes.ts');
  const rows = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [
    `\`${name}\``,
    TYPE_NAMES[type],
    docs.ofField(['SEARCH_ATTRIBUTES'], name).text,
  ]);
  return markdownTable(['search attribute', 'type', 'value'], rows);
}

const TYPE_NAMES = { KEYWORD: 'Keyword', DOUBLE: 'Double', INT: 'Int' } as const;

/** The handlers of one kind. Argument and result are types of the source, because Temporal's definitions have none at run time. */
function handlerTable(kind: string): string {
  const source = readFileSync(new URL('../../../src/contracts/handlers.ts', import.meta.url), 'utf8');
  const ofKind = Object.values(handlers).flatMap((handler) => (isHandler(handler) && handler.type === kind ? [handler.name] : []));
  const rows = ofKind.map((name) => {
    const declaration = new RegExp(`export const ${name} = define\\w+(?:<(?<types>.+?)>)?\\(\\s*'${name}',?\\s*\\)`, 'su').exec(source);
    if (!declaration) throw new Error(`src/contracts/handlers.ts does not define ${name} as a constant of that name`);
    const { argument, result } = typesOf(declaration.groups?.['types'] ?? '', kind);
    return [`\`${name}\``, argument, ...(kind === 'signal' ? [] : [result]), HANDLERS.of(name).text];
  });
  const more = kind === 'query' ? [] : verbsOf(kind === 'signal' ? SIGNALS : UPDATES).filter(({ name }) => !ofKind.includes(name));
  rows.push(...more.map((verb) => verbRow(verb)));
  return markdownTable([kind, 'argument', ...(kind === 'signal' ? [] : ['result']), 'meaning'], rows);
}

/** The row of a verb without a typed definition: from its entry in `contracts/verbs`. */
function verbRow({ name, kind, fields, description }: AnyVerb): string[] {
  return [`\`${name}\``, `\`{ ${Object.keys(fields).join(', ')} }\``, ...(kind === 'signal' ? [] : ['JSON']), description];
}

/** Splits the type arguments `[Argument]` of a signal, and `Result, [Argument]` of an update or a query. */
function typesOf(types: string, kind: string): { readonly argument: string; readonly result: string } {
  const [result = '', argument] = kind === 'signal' ? ['', types] : types.split(/, (?=\[)/u);
  const plain = (argument ?? '')
    .replaceAll(/^\[|\??\]$/gu, '')
    .replaceAll('readonly ', '')
    .replace("RunEvent['type'][]", 'string[]');
  return { argument: plain === '' ? 'none' : `\`${plain}\``, result: `\`${result.replaceAll('readonly ', '')}\`` };
}

function eventTable(): string {
  const rows = EVENT.variantsOf('RunEventBody').map(([type, fields]) => [
    `\`${type}\``,
    fields.map((field) => `\`${field.replace("NonNullable<RunResult['error']>", '{ type, message, turn }')}\``).join(', '),
    EVENT.ofVariant('RunEventBody', type).text,
  ]);
  return markdownTable(['event', 'fields', 'meaning'], rows);
}

function isHandler(value: unknown): value is { readonly type: string; readonly name: string } {
  return typeof value === 'object' && value !== null && 'type' in value && 'name' in value;
}
