import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const server = new McpServer({ name: 'files', version: '1.0.0' })
server.registerTool('greet', { description: 'Greets', inputSchema: { name: z.string() } }, ({ name }) => ({
  content: [{ type: 'text', text: `${process.env.GREETING ?? 'hello'}, ${name}` }],
}))
await server.connect(new StdioServerTransport())
