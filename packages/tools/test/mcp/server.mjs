import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'

const empty = { type: 'object', properties: {} }
const number = { type: 'number' }
const sum = { type: 'object', properties: { sum: number }, required: ['sum'] }
const fixed = [
  {
    name: 'add',
    description: 'Adds two numbers',
    inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
    outputSchema: sum,
  },
  { name: 'media', description: 'Gives one of each', inputSchema: empty },
  { name: 'fail', description: 'Fails', inputSchema: empty },
  { name: 'refuse', description: 'Answers with an error', inputSchema: empty },
  { name: 'wrong', description: 'Breaks its schema', inputSchema: empty, outputSchema: sum },
  { name: 'slow', description: 'Waits to be cancelled', inputSchema: empty },
  { name: 'die', description: 'Ends the server', inputSchema: empty },
  { name: 'env', description: 'Names its variables', inputSchema: empty },
  { name: 'pid', description: 'Tells its process', inputSchema: empty },
  { name: 'storm', description: 'Says often that its list has changed', inputSchema: empty },
  { name: 'change', description: 'Changes the list', inputSchema: empty },
  { name: 'files/read', description: 'Has a name that providers do not take', inputSchema: empty },
]

// Plain JavaScript, for a child that starts at once; its types are in server.d.mts.
/** A real server; it lists its tools on two pages. */
export function fixtureServer(note, shelf = { more: [], without: [] }, die = () => {}) {
  const server = new Server({ name: 'fixture', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    shelf.listed = (shelf.listed ?? 0) + 1
    const tools = [...fixed, ...shelf.more].filter(({ name }) => !shelf.without.includes(name))
    return params?.cursor === undefined ? { tools: tools.slice(0, 4), nextCursor: 'rest' } : { tools: tools.slice(4) }
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    switch (params.name) {
      case 'slow':
        note('begun')
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        note(`cancelled: ${signal.reason}`)
        return text('late')
      case 'die':
        die()
        return new Promise(() => {})
      case 'storm':
        for (let i = 0; i < 500; i++) await server.sendToolListChanged()
        return text('stormed')
      case 'change':
        shelf.without = ['add']
        shelf.more = [{ name: 'extra', description: 'New', inputSchema: empty }]
        await server.sendToolListChanged()
        return text('changed')
      default: {
        const { structured } = shelf.more.find(({ name }) => name === params.name) ?? {}
        if (structured !== undefined) return { ...text('Here.'), structuredContent: structured }
        return answer(params.name, params.arguments ?? {})
      }
    }
  })
  return server
}

function answer(name, args) {
  switch (name) {
    case 'add': {
      const sum = Number(args.a) + Number(args.b)
      return { ...text(`The sum is ${sum}.`), structuredContent: { sum } }
    }
    case 'media':
      return {
        content: [
          { type: 'text', text: 'Here:' },
          { type: 'image', data: 'aW1n', mimeType: 'image/png' },
          { type: 'audio', data: 'YXVk', mimeType: 'audio/wav' },
          { type: 'resource', resource: { uri: 'file:///a.txt', text: 'Inside.' } },
          { type: 'resource', resource: { uri: 'file:///b/r.csv', blob: 'YSxi', mimeType: 'text/csv' } },
          { type: 'resource', resource: { uri: 'file:///b/c.pdf', blob: 'cGRm', mimeType: 'application/pdf' } },
          { type: 'resource_link', uri: 'https://example.com/d', name: 'd', mimeType: 'text/html' },
        ],
      }
    case 'fail':
      return { ...text('The disk is full.'), isError: true }
    case 'wrong':
      return { ...text('?'), structuredContent: { sum: 'three' } }
    case 'env':
      return text(JSON.stringify(process.env))
    case 'pid':
      return text(String(process.pid))
    case 'files/read':
      return text('read')
    default:
      throw new McpError(ErrorCode.InvalidParams, `There is no "${name}" today.`)
  }
}

function text(text) {
  return { content: [{ type: 'text', text }] }
}
