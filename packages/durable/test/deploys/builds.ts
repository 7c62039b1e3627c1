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

export const effects = ['pay', 'mail'] as const
export type Effect = (typeof effects)[number]

type Named = Middleware & { name: string }
/** Layers that a build can have, by name. All but `policy` let every call through. */
const layers: Readonly<Record<string, () => Named>> = {
  watch: () => ({ name: 'watch', tool: (_, next) => next(), model: (_, next) => next() }),
  watch2: () => ({ name: 'watch', options: { level: 2 }, tool: (_, next) => next(), model: (_, next) => next() }),
  seen: () => ({ name: 'seen', tool: (_, next) => next(), model: (_, next) => next() }),
  cap: () => budget({ limit: 1e6, unit: 'tokens' }) as Named,
  cap2: () => budget({ limit: 2e6, unit: 'tokens' }) as Named,
  fee: () => ({
    name: 'fee',
    async model(ctx, next) {
      await ctx.once('fee', () => 1, { per: 'attempt' })
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
  onEffect(effect: Effect): unknown
  /** Called before each answer of the model. */
  onModel?(request: ModelRequest): unknown
}

/** An agent that pays, then mails, then answers. */
export function agentOf(build: Build, { name, version, sessions, clock, onEffect, onModel }: AgentSetup): Agent {
  const nameOf = (effect: Effect) => (effect === 'mail' ? build.mail : effect)
  const tools = effects.map((effect) => ({
    name: nameOf(effect),
    description: effect,
    jsonSchema: build.schema,
    requireApproval: build.requireApproval,
    async execute() {
      await onEffect(effect)
      return 'done'
    },
  }))
  const script = effects.map((effect) => ({ toolCalls: [{ name: nameOf(effect), callId: effect, args: {} }] }))
  const model = {
    id: build.model,
    async *stream(request: ModelRequest) {
      await onModel?.(request)
      const done = request.messages.filter(({ role }) => role === 'tool').length
      yield* scriptedModel([script[done] ?? 'Done.']).stream(request)
    },
  }
  const options = { name, model, tools, clock, logger, ...(version !== undefined && { version }) }
  const agent = new Agent(options)
  if (sessions !== undefined) agent.use(persist({ store: sessions }))
  for (const layer of build.layers) agent.use((layers[layer] as () => Named)())
  return agent as unknown as Agent
}

/** The effects among the ids of recorded steps. */
export function effectsIn(steps: Iterable<string>): Set<Effect> {
  const all = [...steps]
  return new Set(
    effects.filter((effect) => all.some((id) => id.includes(`:tool:${effect}:`) && !id.endsWith(':begin'))),
  )
}
