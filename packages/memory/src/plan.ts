import {
  type AnyTool,
  defineMiddleware,
  layerOptions,
  type Message,
  option,
  type ToolContext,
  type TypedMiddleware,
  toolResult,
  withState,
} from '@allium/core'

const statuses = ['pending', 'in_progress', 'completed'] as const

/** One task of the plan, in the model's words. */
export interface PlanItem {
  text: string
  status: (typeof statuses)[number]
}

export interface PlanOptions<Name extends string = string> {
  /** The tool's name. @default 'plan' */
  name?: string | undefined
  /**
   * The tool description for the model: when and how to plan. @default to plan work of three steps and more, and to keep the plan up to
   * date
   */
  description?: string | undefined
  /** The maximum number of items. @default 50 */
  maxItems?: number | undefined
  /** The maximum length of one item in characters. @default 500 */
  maxLength?: number | undefined
  /** The layer's name, and the state key. @default 'memory:plan' */
  as?: Name | undefined
}

/** The model has written its plan. */
export interface Planned {
  type: 'memory:plan'
  layer: string
  items: readonly Readonly<PlanItem>[]
}

declare module '@allium/core' {
  interface AgentEvents {
    'memory:plan': Planned
  }
}

/** The session's plan. */
export type PlanState<Name extends string> = Record<Name, PlanItem[]>

const readOptions = layerOptions<PlanOptions>('memory:plan', {
  name: option.text,
  description: option.text,
  maxItems: option.number({ from: 1 }),
  maxLength: option.number({ from: 1 }),
})

/**
 * Gives the model a to-do list: a tool that writes the whole list, and a note with the open items at the end of each model call.
 *
 * Use it for work of many steps, where a model loses track, and to show users the progress. The list is in the session's state. The
 * note is not part of the history. It comes last, so that prompt caches stay valid, and it remains when the call that wrote the list
 * was compacted. Sub-agents do not use it.
 *
 * @throws AlliumError `layer.config` for a limit below 1
 * @example
 * agent.use(memory.plan())
 */
export function plan<Name extends string = 'memory:plan'>(
  given: PlanOptions<Name> = {},
): TypedMiddleware<PlanState<Name>> {
  const {
    name: tool = 'plan',
    description = defaultDescription,
    maxItems = 50,
    maxLength = 500,
    as = 'memory:plan' as Name,
  } = readOptions(given)
  const planTool: AnyTool = {
    name: tool,
    description,
    flow: {},
    jsonSchema: schemaOf(maxItems, maxLength),
    execute({ items: proposedItems }: { items?: unknown }, ctx) {
      const items = parseItems(proposedItems, maxItems, maxLength)
      if (typeof items === 'string') return toolResult({ content: items, isError: true })
      ctx.state[as] = items
      ctx.emit({ type: 'memory:plan', layer: as, items: copyItems(items) } satisfies Planned)
      return `The plan is written: ${items.filter(isDone).length} of ${items.length} completed.`
    },
  }

  const layer = defineMiddleware<Record<string, PlanItem[]>>({
    name: as,
    order: { is: ['shapes'], inside: ['memory:compact', 'memory:truncate'] },
    tools: [planTool],
    state: { [as]: { default: [], reducer: (_, items) => copyItems(items) } },
    model(ctx, next) {
      const items = ctx.state[as] ?? []
      const isOffered = ctx.request.tools.some(({ name }) => name === tool)
      if (isOffered && !items.every(isDone)) ctx.addMessage(planNote(items, tool))
      return next()
    },
    tool(ctx, next) {
      if (ctx.tool.name !== tool || isLastPlanCall(ctx)) return next()
      return ctx.skipCall({
        content: 'You called this tool again in the same answer: the last call counts.',
        isError: true,
      })
    },
  })
  return withState<PlanState<Name>>(layer)
}

const defaultDescription = `Writes your plan: the whole list of what is to be done, which replaces the one before. Plan work that takes three steps or more; for less, just do it. Set an item to in_progress before you begin it and to completed as soon as it is done, add what you find out, and drop what is no longer needed. Call it once in an answer.`

function schemaOf(maxItems: number, maxLength: number) {
  const text = { type: 'string', minLength: 1, maxLength }
  const item = {
    type: 'object',
    properties: { text, status: { type: 'string', enum: statuses } },
    required: ['text', 'status'],
    additionalProperties: false,
  }
  return {
    type: 'object',
    properties: { items: { type: 'array', maxItems, items: item } },
    required: ['items'],
    additionalProperties: false,
  }
}

/** Returns the items or the problem with them. It validates them itself, because an agent may not check JSON Schema. */
function parseItems(given: unknown, maxItems: number, maxLength: number): PlanItem[] | string {
  if (!Array.isArray(given)) return 'The plan was not written: give "items", a list.'
  if (given.length > maxItems)
    return `The plan was not written: it has ${given.length} items, and ${maxItems} is the most. Join some.`
  for (const [i, item] of given.entries()) {
    const { text, status } = (item ?? {}) as Partial<PlanItem>
    if (typeof text !== 'string' || text.trim() === '') return `The plan was not written: item ${i + 1} has no text.`
    if (text.length > maxLength)
      return `The plan was not written: item ${i + 1} has ${text.length} characters, and ${maxLength} is the most.`
    if (!statuses.includes(status as PlanItem['status']))
      return `The plan was not written: the status of item ${i + 1} is not one of ${statuses.join(', ')}.`
  }
  return copyItems(given as PlanItem[])
}

/** Sent as a user message instead of an instruction, because the list may contain text from tools or users. */
function planNote(items: readonly PlanItem[], tool: string): Message {
  const lines = items.map(({ text, status }) => `[${statusMarks[status]}] ${text.replaceAll(/\s+/g, ' ')}`)
  return {
    role: 'user',
    content: `(A note, not a message of the user: your plan as it stands. Keep it up to date with "${tool}".)\n${lines.join('\n')}`,
  }
}

const statusMarks = { pending: ' ', in_progress: '>', completed: 'x' } as const

/** Whether the call is the last call of its tool in the answer. */
function isLastPlanCall({ history, tool, callId }: ToolContext): boolean {
  const content = history.findLast(({ role }) => role === 'assistant')?.content
  if (content === undefined || typeof content === 'string') return true
  const last = content.findLast((part) => part.type === 'tool-call' && part.name === tool.name)
  return last === undefined || (last.type === 'tool-call' && last.callId === callId)
}

function isDone({ status }: PlanItem): boolean {
  return status === 'completed'
}

function copyItems(items: readonly PlanItem[]): PlanItem[] {
  return items.map(({ text, status }) => ({ text, status }))
}
