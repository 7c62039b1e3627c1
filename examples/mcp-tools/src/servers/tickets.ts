/** An MCP server over stdin and stdout. It stores its tickets in the file in TICKETS_FILE. */
import { readFileSync, writeFileSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const file = process.env.TICKETS_FILE ?? ''
const Tickets = z.record(z.string(), z.string())
const read = () => Tickets.parse(JSON.parse(readFileSync(file, 'utf8')))

serveStdio(() => {
  const server = new McpServer({ name: 'tickets', version: '1.0.0' })

  server.registerTool(
    'list',
    {
      description: 'Lists the open tickets.',
      inputSchema: z.object({}),
      outputSchema: z.object({ tickets: Tickets, pid: z.number() }),
    },
    () => ({
      ...text(
        Object.entries(read())
          .map((ticket) => ticket.join(': '))
          .join('\n'),
      ),
      structuredContent: { tickets: read(), pid: process.pid },
    }),
  )

  server.registerTool(
    'delete',
    { description: 'Deletes a ticket for good.', inputSchema: z.object({ id: z.string() }) },
    ({ id }) => {
      const { [id]: gone, ...rest } = read()
      if (gone === undefined) return { ...text(`There is no ticket ${id}.`), isError: true }
      writeFileSync(file, JSON.stringify(rest))
      return text(`Deleted ticket ${id}.`)
    },
  )

  server.registerTool(
    'export_all',
    { description: 'Exports all tickets of all customers.', inputSchema: z.object({}) },
    () => text(JSON.stringify(read())),
  )

  return server
})

function text(text: string) {
  return { content: [{ type: 'text' as const, text }] }
}
