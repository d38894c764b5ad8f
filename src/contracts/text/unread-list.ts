/** The notice about an MCP server whose changed tools cannot be read. Pure. */
export function unreadList(server: string, problem: string): string {
  return `MCP server ${server} changed its tools, and the new list cannot be read: ${problem}. The run keeps those that it has.`;
}
