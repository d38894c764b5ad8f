import { isBuiltin } from 'node:module';
import { dirname, relative, resolve, sep } from 'node:path';
import { ALSO, IMPORT_TABLE, TYPES_ONLY } from './import-table.mjs';

/** An oxlint plugin: each import of `src` is one that the import table allows. */
export default {
  meta: { name: 'house' },
  rules: {
    'import-table': {
      create(context) {
        const place = placeOf(context.filename);
        if (place === undefined) return {};
        const check = (node, isType) => {
          if (typeof node.source?.value !== 'string') return;
          const problem = problemOf(place, node.source.value, isType);
          if (problem) context.report({ node: node.source, message: problem });
        };
        return {
          ImportDeclaration: (node) => check(node, node.importKind === 'type' || hasOnlyTypes(node)),
          ExportNamedDeclaration: (node) => check(node, node.exportKind === 'type'),
          ExportAllDeclaration: (node) => check(node, node.exportKind === 'type'),
          ImportExpression: (node) => check(node, false),
        };
      },
    },
  },
};

/** Where a file stands below `src`; undefined for any other file. */
function placeOf(filename) {
  const parts = filename.split(sep);
  const at = parts.lastIndexOf('src');
  const inside = parts.slice(at + 1);
  return at === -1 || inside.length < 2 ? undefined : { root: parts.slice(0, at + 1).join(sep), file: inside.join('/'), room: inside[0] };
}

function problemOf({ root, file, room }, source, isType) {
  const row = IMPORT_TABLE[room];
  if (row === undefined) return `src/${room} has no row in lint/import-table.mjs`;
  if (!source.startsWith('.')) {
    const allowed = [...row.packages, ...(ALSO[file] ?? [])];
    return allowed.some((name) => covers(name, source)) ? undefined : `${room} may not import the package ${source}`;
  }
  const target = relative(root, resolve(root, dirname(file), source))
    .split(sep)
    .join('/');
  const other = target.split('/')[0];
  const onlyTypes = (TYPES_ONLY[room] ?? []).find((folder) => target.startsWith(`${folder}/`));
  if (onlyTypes && !isType) return `${room} may import only types of ${onlyTypes}: ${target}`;
  if (other === room || row.rooms.includes(other)) return undefined;
  if (row.types?.includes(other)) return isType ? undefined : `${room} may import only types of ${other}: ${target}`;
  return `${room} may not import ${other}: ${target}`;
}

function covers(name, source) {
  if (name === 'node:*') return isBuiltin(source);
  return name.endsWith('/*') ? source.startsWith(name.slice(0, -1)) : source === name || source.startsWith(`${name}/`);
}

function hasOnlyTypes({ specifiers }) {
  return specifiers.length > 0 && specifiers.every((specifier) => specifier.importKind === 'type');
}
