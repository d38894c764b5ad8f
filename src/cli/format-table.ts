/** Rows under a heading, each column as wide as its longest cell; nothing is cut. Pure. */
export function formatTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return table.map((row) => line(row).trimEnd()).join('\n');
}
