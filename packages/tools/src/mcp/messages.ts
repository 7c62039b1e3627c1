import type { CallToolResult, JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { Task } from './tasks.ts'

/** Changes each message of a server before the SDK reads it, where the SDK reads less than it may get. */
export function adaptMessages(transport: Transport): void {
  let receive: Transport['onmessage']
  Object.defineProperty(transport, 'onmessage', {
    get: () => receive,
    set: (handler: Transport['onmessage']) => {
      receive = handler && ((message, extra) => handler(adapted(message), extra))
    },
  })
}

function adapted(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message)) return message
  const { resultType = 'complete', tools, ...rest } = message.result
  // Revision 2026-07-28 takes a missing type as complete. The SDK does so for other revisions only.
  const result = { ...rest, resultType, ...(tools !== undefined && { tools: cut(tools, maxDepth) }) }
  return { ...message, result: resultType === 'task' ? asResult(rest) : result }
}

/** The SDK refuses the type of a result that the tasks extension adds. */
function asResult(task: object): { resultType: string; content: []; _meta: Record<string, unknown> } {
  return { resultType: 'complete', content: [], _meta: { [taskKey]: task } }
}

/** Returns the task that a call became, if it did. */
export function taskOf({ _meta: meta }: CallToolResult): Task | undefined {
  return meta?.[taskKey] as Task | undefined
}

const taskKey = 'allium/task'

/** The SDK overflows the stack at a schema that is nested deeply. */
function cut(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return {}
  if (Array.isArray(value)) return value.map((item) => cut(item, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cut(inner, levels - 1)]))
}

/** More than a tool of an agent may have, which is left out with a message. */
const maxDepth = 200
