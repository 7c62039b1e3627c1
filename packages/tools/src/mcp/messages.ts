import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'

/** Changes each message of a server before the SDK reads it. */
export function adaptMessages(transport: Transport, adapt: (message: JSONRPCMessage) => JSONRPCMessage): void {
  let receive: Transport['onmessage']
  Object.defineProperty(transport, 'onmessage', {
    get: () => receive,
    set: (handler: Transport['onmessage']) => {
      receive = handler && ((message, extra) => handler(adapt(message), extra))
    },
  })
}

/** Returns a list of tools whose schemas the SDK can read: it overflows the stack at one that is nested deeply. */
export function readableTools(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message) || !Array.isArray(message.result.tools)) return message
  return { ...message, result: { ...message.result, tools: cut(message.result.tools, maxDepth) } }
}

function cut(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return {}
  if (Array.isArray(value)) return value.map((item) => cut(item, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cut(inner, levels - 1)]))
}

/** More than a tool of an agent may have, which is left out with a message. */
const maxDepth = 200
