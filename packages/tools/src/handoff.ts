import {
  type AnyTool,
  defineMiddleware,
  layerOptions,
  type Message,
  option,
  type ToolResult,
  toolResult,
} from '@allium/core'
import { isResumed } from '@allium/core/context'
import { checkTargetState, checkTargets, type HandoffAgent, handoffKey, handoffReason } from './handoff/targets.ts'

/** An agent that a session can be handed off to. */
export interface HandoffTarget {
  agent: HandoffAgent
  /** The work that this agent does, for the model that hands off. */
  description: string
}

export interface HandoffOptions {
  /**
   * The agents that this agent may hand the session off to. Each has the same `sessionGroup` and a layer of this kind. A function is called at
   * `init()`, so that agents can hand off to each other.
   */
  to: readonly HandoffTarget[] | (() => readonly HandoffTarget[])
  /** Most handoffs between two inputs. After them the model has to answer itself. @default 5 */
  max?: number | undefined
  /** The name of the tool. @default 'handoff' */
  tool?: string | undefined
  /** The layer's name. @default 'tools:handoff' */
  as?: string | undefined
}

/** The agent that a session continues with. The value of the state key `tools:handoff`; null before the first handoff. */
export interface Handoff {
  /** The name of the agent that takes the next turn. */
  agent: string
  /** The agent that handed the session off. */
  from: string
  /** Handoffs since the last input. */
  count: number
  /** Whether the agent has not begun its first turn yet. */
  waiting: boolean
}

/** The session continues with another agent. */
export interface ToolsHandoff {
  type: 'tools:handoff'
  sessionId: string
  turnId: string
  /** The agent that handed the session off. */
  from: string
  /** The agent that takes the next turn. */
  to: string
  /** What the model noted for that agent; absent if it noted nothing. */
  reason?: string
}

const readOptions = layerOptions<HandoffOptions>('tools:handoff', {
  to: option.required(
    option.either(
      option.list(
        option.shape<HandoffTarget>({
          agent: option.required(option.object, 'who takes over'),
          description: option.required(option.text, 'what it does, for the model'),
        }),
      ),
      option.fn,
    ),
    'the agents to hand the session off to',
  ),
  max: option.whole(1),
  tool: option.text,
})

/**
 * Lets the model hand the session off to another agent, which answers the input and all later ones, until it hands the session off itself.
 *
 * The handoff ends the turn. `agentGroup()` of `allium/group`, the server and durable runs then start a turn of the other agent, without a
 * new input. The history and the state of the session stay. Agents that only take sessions over have the layer with `to: []`.
 *
 * @throws AlliumError `layer.config` (from `init()`) for an agent of another group, for the agent itself, and for a target without this layer;
 * (from the first run) for a target that does not declare a state key of this agent
 * @example
 * const refunds = new Agent({ name: 'refunds', sessionGroup: 'desk', model }).use(handoff({ to: [] }))
 * const triage = new Agent({ name: 'triage', sessionGroup: 'desk', model }).use(
 *   handoff({ to: [{ agent: refunds, description: 'Refunds and returns' }] }),
 * )
 */
export function handoff(options: HandoffOptions) {
  const { to, max = 5, tool: toolName = 'handoff', as = 'tools:handoff' } = readOptions(options)
  let targets: readonly HandoffTarget[] = []
  let isChecked = false
  return defineMiddleware({
    name: as,
    state: { [handoffKey]: { default: null as Handoff | null } },
    async agent(ctx, next) {
      targets = checkTargets(ctx.agent, typeof to === 'function' ? to() : to)
      if (targets.length > 0) ctx.registerTool(handoffTool(toolName, targets))
      await next()
    },
    async turn(ctx, next) {
      const { state } = ctx
      if (!isChecked) for (const { agent } of targets) checkTargetState(ctx.agent.name, Object.keys(state), agent)
      isChecked = true
      const { name } = ctx.agent
      const handed = state[handoffKey]
      if (handed !== null) {
        if (isResumed(ctx) && handed.waiting && handed.agent !== name) ctx.stop(handoffReason)
        else {
          const continues = handed.waiting && handed.agent === name && isContinuation(ctx.plan.input)
          state[handoffKey] = { ...handed, agent: name, count: continues ? handed.count : 0, waiting: false }
          if (continues) ctx.onInput((_, { steered }) => (steered ? undefined : null))
        }
      }
      await next()
    },
    // Not in the tool itself, because a replay does not run it again.
    async tool(ctx, next) {
      const result = await next()
      if (ctx.tool.name !== toolName || result.status !== 'ok' || result.isError === true) return result
      const target = targets.find(({ agent }) => result.content === handedOffTo(agent.name))
      if (target === undefined) return result
      const { count = 0, waiting = false } = ctx.state[handoffKey] ?? {}
      if (waiting) return failed(result, 'The conversation was already handed off in this answer.')
      if (count >= max) return failed(result, `It was handed off ${count} times since the last input. Answer it.`)
      const { sessionId, turnId } = ctx
      const [from, taker, { reason }] = [ctx.agent.name, target.agent.name, ctx.args]
      ctx.state[handoffKey] = { agent: taker, from, count: count + 1, waiting: true }
      const noted = typeof reason === 'string' ? { reason } : {}
      ctx.emit({ type: 'tools:handoff', sessionId, turnId, from, to: taker, ...noted })
      ctx.stop(handoffReason)
      return result
    },
  })
}

/** The input of a turn that continues after a handoff. The layer drops it before other layers and the history get it. */
export const continuation: Message = { role: 'user', content: 'Continue after the handoff.' }

function isContinuation(input: readonly Message[]): boolean {
  return input.length === 1 && input[0]?.role === 'user' && input[0].content === continuation.content
}

function handoffTool(name: string, targets: readonly HandoffTarget[]): AnyTool {
  const names = targets.map(({ agent }) => agent.name)
  return {
    name,
    description: `Hands the conversation off to another agent, which answers from now on:\n${targets
      .map(({ agent, description }) => `- ${agent.name}: ${description}`)
      .join('\n')}`,
    jsonSchema: {
      type: 'object',
      properties: {
        to: { type: 'string', enum: names },
        reason: { type: 'string', description: 'What the other agent has to do' },
      },
      required: ['to'],
      additionalProperties: false,
    },
    flow: {},
    execute({ to }: { to?: unknown }) {
      const target = names.find((one) => one === to)
      if (target !== undefined) return handedOffTo(target)
      const content = `Cannot hand off to ${JSON.stringify(to)}. Agents: ${names.join(', ')}.`
      return toolResult({ content, isError: true })
    },
  }
}

function handedOffTo(name: string): string {
  return `Handed off to ${name}.`
}

function failed(result: ToolResult, content: string): ToolResult {
  return { ...result, status: 'error', content, value: content, isError: true }
}

declare module '@allium/core' {
  interface AgentEvents {
    'tools:handoff': ToolsHandoff
  }
}
