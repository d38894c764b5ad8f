import { relative } from 'node:path';
import type { Usage } from '../../contracts/schemas/model.js';

/** `850 ms`, `4.2 s`, `3 min 05 s`, `2 h 10 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** `950`, `12.3k`, `1.2M`. */
function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** `1 turn`, `20 turns`. */
export function formatNumberOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `2030-01-31 15:45:02 UTC`, from an ISO time. */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** `512 B`, `3.4 KiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** `$0.0042`. */
export function formatCost(usd: number): string {
  return `$${usd.toFixed(4)}`;
}

/** `1.2k in, 300 out`, and the cost when the price is known. */
export function formatUsage(usage: Usage, costUsd: number | undefined): string {
  const tokens = `${formatCount(usage.inputTokens)} in, ${formatCount(usage.outputTokens)} out`;
  return costUsd === undefined ? tokens : `${tokens}, ${formatCost(costUsd)}`;
}

/** Formats rows under a heading. A column is as wide as its longest cell; no cell is cut. Pure. */
export function formatTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return table.map((row) => line(row).trimEnd()).join('\n');
}

/** Where a definition is, as the user would type it. Pure. */
export function placeOf(definedIn: string, cwd: string): string {
  const path = relative(cwd, definedIn);
  return definedIn.startsWith('/') && !path.startsWith('..') ? path : definedIn;
}
