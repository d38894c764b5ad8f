import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** One name of a public door: what it is, and the file that declares it. */
interface ExportedName {
  readonly name: string;
  /** The name in the file that declares it; `*` for a whole module. */
  readonly declared: string;
  readonly file: string;
}

/**
 * The public surface of a door, from its declaration files: each exported name with its declaration, sorted by name. Comments and the
 * places of files are left out, so that the text changes only when a user of the package could notice.
 */
export async function apiReport(dist: string, door: string): Promise<string> {
  const names = await exportsOf(join(dist, door, 'index.d.ts'));
  const entries = await Promise.all(names.map(async (name) => `${name.name}\n${indent(await declarationOf(name))}`));
  return `${entries.toSorted().join('\n\n')}\n`;
}

const REEXPORT = /export (?<type>type )?(?:\{(?<names>[^}]*)\}|\* as (?<space>\w+)) from '(?<from>[^']+)';/gu;

async function exportsOf(index: string): Promise<ExportedName[]> {
  const text = await readFile(index, 'utf8');
  return [...text.matchAll(REEXPORT)].flatMap(({ groups = {} }) => {
    const file = join(dirname(index), (groups['from'] ?? '').replace(/\.js$/u, '.d.ts'));
    if (groups['space'] !== undefined) return [{ name: groups['space'], declared: '*', file }];
    const listed = (groups['names'] ?? '').split(',').map((entry) => entry.trim().replace(/^type /u, ''));
    return listed.filter(Boolean).map((entry) => {
      const [declared = '', name = declared] = entry.split(' as ');
      return { name, declared, file };
    });
  });
}

/** The declarations of a name: a schema has a constant and a type. */
async function declarationOf({ declared, file }: ExportedName): Promise<string> {
  const statements = topStatements(await readFile(file, 'utf8'));
  const isNamed = (statement: string): boolean =>
    new RegExp(`^export (?:declare )?(?:abstract )?[a-z]+ ${declared}\\b`, 'u').test(statement);
  const found = statements.filter((statement) =>
    declared === '*' ? /^export (?:declare |type |interface )/u.test(statement) : isNamed(statement),
  );
  if (found.length > 0) return found.map(shaped).join('\n');
  // a name that its file only passes on
  const passed = (await exportsOf(file)).find(({ name }) => name === declared);
  if (!passed) throw new Error(`no declaration of ${declared} in ${file}`);
  return await declarationOf(passed);
}

/** The statements of a declaration file, without comments. Each begins at the margin. */
function topStatements(text: string): string[] {
  const bare = text.replaceAll(/^\s*\/\*\*[\s\S]*?\*\/\n/gmu, '').replaceAll(/^\/\/.*$/gmu, '');
  return bare
    .split(/^(?=export |declare |import )/mu)
    .map((statement) => statement.trim())
    .filter(Boolean);
}

/** A statement in a shape of its own: how the compiler breaks lines depends on comments, which are no part of the surface. */
function shaped(statement: string): string {
  let depth = 0;
  return statement
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/= \| /gu, '= ')
    .replaceAll(/ ?(?<mark>\{|\}|;) ?/gu, (_, mark: string) => {
      if (mark === '{') depth += 1;
      if (mark === '}') depth -= 1;
      const line = `\n${'  '.repeat(depth)}`;
      return mark === '}' ? `${line}}` : `${mark === '{' ? ' {' : ';'}${line}`;
    })
    .replaceAll(/\n\s*(?=\n)/gu, '')
    .trim();
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gmu, '  ');
}
