import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

serveStdio(() => {
  const server = new McpServer({ name: 'files', version: '1.0.0' })
  const inputSchema = z.object({ name: z.string() })
  server.registerTool('greet', { description: 'Greets', inputSchema }, ({ name }) => ({
    content: [{ type: 'text', text: `${process.env.GREETING ?? 'hello'}, ${name}` }],
  }))
  return server
})
