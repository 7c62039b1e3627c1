import { Agent, type Clock, type Middleware, type ModelRequest } from '@allium/core'
import { budget } from '@allium/guard'
import { persist } from '@allium/memory'
import type { SessionStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'

/** A build of the agent, as plain data. */
export interface Build {
  /** Names in `layers`. */
  readonly layers: readonly string[]
  /** The JSON Schema of both tools. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly requireApproval: boolean
  /** The name of the tool that mails. */
  readonly mail: string
  readonly model: string
}

const calls = ['pay', 'mail'] as const
type Call = (typeof calls)[number]
/** A tool call, or the fee of the model call with this number. */
export type Effect = Call | `fee ${number}`
type OnEffect = (effect: Effect) => unknown

type Named = Middleware & { name: string }
/** Layers that a build can have, by name. All but `policy` let every call through. */
const layers: Readonly<Record<string, (onEffect: OnEffect) => Named>> = {
  watch: () => ({ name: 'watch', tool: (_, next) => next(), model: (_, next) => next() }),
  watch2: () => ({ name: 'watch', options: { level: 2 }, tool: (_, next) => next(), model: (_, next) => next() }),
  seen: () => ({ name: 'seen', tool: (_, next) => next(), model: (_, next) => next() }),
  cap: () => budget({ limit: 1e6, unit: 'tokens' }) as Named,
  cap2: () => budget({ limit: 2e6, unit: 'tokens' }) as Named,
  fee: (onEffect) => ({
    name: 'fee',
    async model(ctx, next) {
      const pay = async () => void (await onEffect(`fee ${resultsIn(ctx.messages)}`))
      await ctx.once('fee', pay, { per: 'attempt' })
      return next()
    },
  }),
  again: () => ({ name: 'again', tool: (_, next) => next().catch(() => next()) }),
  policy: () => ({ name: 'policy', tool: (ctx) => ctx.deny('Not today.') as never }),
  quiet: () => ({ name: 'policy', tool: (_, next) => next() }),
}

export const logger = { ...console, warn() {}, error() {} }

export interface AgentSetup {
  readonly name: string
  readonly version?: string
  /** @default the sessions are not stored */
  readonly sessions?: SessionStore
  readonly clock: Clock
  readonly onEffect: OnEffect
  /** Called before each answer of the model. */
  onModel?(request: ModelRequest): unknown
}

/** An agent that pays, then mails, then answers. */
export function agentOf(build: Build, { name, version, sessions, clock, onEffect, onModel }: AgentSetup): Agent {
  const nameOf = (effect: Call) => (effect === 'mail' ? build.mail : effect)
  const tools = calls.map((effect) => ({
    name: nameOf(effect),
    description: effect,
    jsonSchema: build.schema,
    requireApproval: build.requireApproval,
    async execute() {
      await onEffect(effect)
      return 'done'
    },
  }))
  const script = calls.map((effect) => ({ toolCalls: [{ name: nameOf(effect), callId: effect, args: {} }] }))
  const model = {
    id: build.model,
    async *stream(request: ModelRequest) {
      await onModel?.(request)
      yield* scriptedModel([script[resultsIn(request.messages)] ?? 'Done.']).stream(request)
    },
  }
  const options = { name, model, tools, clock, logger, ...(version !== undefined && { version }) }
  const agent = new Agent(options)
  if (sessions !== undefined) agent.use(persist({ store: sessions }))
  for (const layer of build.layers) agent.use((layers[layer] as (onEffect: OnEffect) => Named)(onEffect))
  return agent as unknown as Agent
}

function resultsIn(messages: readonly { readonly role: string }[]): number {
  return messages.filter(({ role }) => role === 'tool').length
}

/** The effects among the ids of recorded steps. */
export function effectsIn(steps: Iterable<string>): Set<Effect> {
  const found = [...steps].map((id): Effect | undefined => {
    const [, call] = /:tool:(pay|mail):\d+$/.exec(id) ?? []
    const [, fee] = /:once:model:(\d+):.*fee:\d+$/.exec(id) ?? []
    return (call as Call | undefined) ?? (fee === undefined ? undefined : `fee ${Number(fee)}`)
  })
  return new Set(found.filter((effect) => effect !== undefined))
}

/** Whether an effect leaves a result in the history. */
export function isCall(effect: Effect): effect is Call {
  return (calls as readonly Effect[]).includes(effect)
}
