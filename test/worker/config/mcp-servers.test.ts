import { describe, expect, it } from 'vitest';
import { keysOfConfig } from '../../../src/providers/access/key-references.js';
import { checkConfig } from '../../../src/worker/config/check-config.js';

describe('mcpServers of a config', () => {
  it.each([
    ['a name with an underscore', { my_files: { command: 'x' } }, 'mcpServers.my_files: '],
    ['neither command nor url', { files: {} }, 'mcpServers.files.command: missing'],
    ['an unknown field', { files: { command: 'x', arg: [] } }, 'arg: unknown (did you mean args?)'],
    [
      'plain http to another machine',
      { web: { url: 'http://example.com/mcp' } },
      'mcpServers.web.url: BAD_BASE_URL plain http to another machine',
    ],
    [
      'an address with credentials',
      { web: { url: 'https://a:b@example.com/mcp' } },
      'mcpServers.web.url: BAD_BASE_URL it contains credentials',
    ],
    ['a token that is no reference', { web: { url: 'https://example.com', token: 'abc' } }, 'mcpServers.web.token: use a reference'],
    ['a broken reference', { files: { command: 'x', env: { A: 'env:' } } }, 'mcpServers.files.env.A: use a value, or a reference'],
    ['workspace with cwd', { files: { command: 'x', workspace: true, cwd: '/tmp' } }, 'mcpServers.files.cwd: not used with workspace'],
    ['a relative cwd', { files: { command: 'x', cwd: 'here' } }, 'is no absolute path'],
    [
      'a container',
      { files: { command: 'x', sandbox: { mode: 'container', image: 'i' } } },
      'mcpServers.files.sandbox: a container has no input for a server',
    ],
    [
      'the beginning of a built-in name',
      { read: { command: 'x' } },
      'mcpServers.read: TOOL_NAME the tool "read_file" begins as the tools of this server do',
    ],
  ])('%s is refused with its path', (_, mcpServers, problem) => {
    const checked = checkConfig({ mcpServers }, []);
    expect('problems' in checked ? checked.problems.join('; ') : 'no problem').toContain(problem);
  });

  it('an agent that names a server, or tools, that are not there is refused; tools of a server are known by its name', () => {
    const agent = { description: 'd', prompt: 'p' };
    const check = (more: object): string => {
      const checked = checkConfig({ mcpServers: { files: { command: 'x' } }, agents: { a: { ...agent, ...more } } }, []);
      return 'problems' in checked ? checked.problems.join('; ') : '';
    };
    expect(check({ mcp: ['file'] })).toBe('agents.a.mcp: no MCP server named "file" (did you mean files?)');
    expect(check({ tools: ['file_read'] })).toContain('agents.a: no tool named "file_read"');
    expect(check({ mcp: ['files'], tools: ['files_read_text_file', 'files_*'], blockedTools: ['files_write_file'] })).toBe('');
    expect(check({ gate: { rules: [{ tool: 'files_*', decision: 'ask' }] } })).toBe('');
  });

  it('the references of servers are keys: they leave the environment of the worker', () => {
    const mcpServers = {
      files: { command: 'x', env: { A: 'env:FILES_KEY', B: 'plain' } },
      web: { url: 'https://example.com', token: 'env:WEB_TOKEN', headers: { 'x-key': 'file:/run/key' } },
    };
    expect(keysOfConfig({ mcpServers }).toSorted()).toEqual(['env:FILES_KEY', 'env:WEB_TOKEN', 'file:/run/key']);
  });
});
