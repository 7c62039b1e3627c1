/** An MCP server in this process, behind a `fetch`: it has one tool that brings a text, and one that takes anything. */
export function mcpServer(brings: string, describes = 'Fetches a page'): typeof fetch {
  const tools = [
    { name: 'fetch', description: describes, inputSchema: { type: 'object' } },
    { name: 'post', description: 'Posts', inputSchema: { type: 'object' } },
  ]
  const answers: Record<string, (params: { name?: string }) => unknown> = {
    initialize: () => ({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'srv', version: '1' },
    }),
    'tools/list': () => ({ tools }),
    'tools/call': ({ name }) => ({ content: [{ type: 'text', text: name === 'fetch' ? brings : 'posted' }] }),
  }
  return async (_, init) => {
    if (init?.method !== 'POST') return new Response(null, { status: 405 })
    const { id, method, params } = JSON.parse(String(init.body))
    if (id === undefined) return new Response(null, { status: 202 })
    return Response.json({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} })
  }
}
