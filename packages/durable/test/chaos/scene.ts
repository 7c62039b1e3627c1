import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, defineTool, type Middleware, type Model, type ModelRequest } from '@allium/core'
import { record } from '@allium/core/context'
import { budget, judge } from '@allium/guard'
import { persist } from '@allium/memory'
import { cache as answers } from '@allium/model'
import { audit, usage } from '@allium/observe'
import type { Ledger, RunStore, SessionStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { agent as agentTool, cache as results } from '@allium/tools'
import { postgres } from '../../../store-postgres/src/index.ts'
import type { Noting } from './notes.ts'

/** Where a store is, and what processes note beside it. */
export interface Place {
  readonly kind: 'sqlite' | 'postgres'
  /** The file, or the URL. */
  readonly at: string
  readonly schema: string
  /** The file of what has happened. */
  readonly notes: string
  /** Milliseconds that a lease lasts. */
  readonly lease: number
}

/** What a process does, and where it stops: at the so many-th place of a turn that it comes to, if at any. */
export interface Job extends Place {
  readonly stopAt: number | undefined
  readonly signal: 'SIGKILL' | 'SIGSTOP'
  /** Whether only places count that are between the commit of a turn and the report of its end. */
  readonly atEnd: boolean
}

export const principal = { tenantId: 'acme', userId: 'ann' }
/** What all calls are charged to. */
export const account = 'chaos'
/** What an estimate is above what a call costs: so the ledger tells how many were posted by it. */
export const more = 1e6
/** What a call of a model costs, in tokens. */
const costs = { 'chaos/desk': 11, 'chaos/clerk': 13, 'chaos/court': 17 } as const
type Id = keyof typeof costs

export type Opened = ReturnType<typeof open>
/** For a process that only looks. */
export const unwatched: Watch = { note() {}, reach() {} }
export type Reach = (label: string) => void
export interface Watch {
  readonly note: Noting
  readonly reach: Reach
}

/** The step that is run, for what happens inside it. */
export const stepNow = new AsyncLocalStorage<string>()

export function open({ kind, at, schema }: Pick<Place, 'kind' | 'at' | 'schema'>) {
  return kind === 'sqlite' ? sqlite(at, { synchronous: 'normal' }) : postgres({ url: at, schema })
}

/** What an agent of the scene keeps things in: a store, or what watches one. */
export interface Kept {
  readonly sessions: SessionStore
  readonly runs: RunStore
  readonly ledger: Ledger
  readonly keyValue: Opened['keyValue']
  readonly audit: Opened['audit']
}

/** Four tools at once, one of which asks another agent and one of which is cached; then one that waits for a person; then an answer. */
export function agentOn({ sessions, ledger, keyValue, audit: sink }: Kept, watch: Watch, lease: number): Agent {
  const charged = (as?: string) =>
    budget({
      ...{ limit: 1e12, unit: 'tokens', per: () => account, ledger, ...(as !== undefined && { as }) },
      estimate: ({ model }) => ({ inputTokens: costs[model as Id], outputTokens: more }),
    })
  const clerk = new Agent({
    name: 'clerk',
    logger: quiet,
    model: billed('chaos/clerk', 'There is a guide for every day.', watch),
  }).use(answers({ store: keyValue }))
  const court = billed('chaos/court', '{"score": 1, "why": "It is polite."}', watch)
  const tools = ['train', 'room', 'table', 'pay'].map((name) => tool(name, watch))
  return (
    new Agent({
      version: '1',
      name: 'desk',
      model: billed('chaos/desk', script, watch),
      tools,
      approvals: { secret: 'chaos' },
      logger: quiet,
    })
      .use(persist({ store: sessions, lease }))
      .use(recording)
      // Longer than the server is away.
      .use(audit({ sink, timeout: 60_000 }))
      .use(judge({ model: court, rubric: 'Is polite.', use: [charged('court')] }))
      .use(answers({ store: keyValue, as: 'model:cache' }))
      .use(charged())
      .use(usage({ record: true }))
      .use(results({ tools: ['table'], store: keyValue }))
      .use(agentTool({ agent: clerk, description: 'Asks the clerk' })) as Agent
  )
}

const recording: Middleware = {
  name: 'recording',
  async turn(ctx, next) {
    record(ctx, 'asked', { turn: ctx.turnId })
    await next()
  },
  async tool(ctx, next) {
    const result = await next()
    if (ctx.tool.name === 'pay') record(ctx, 'paid', { key: decidedKey(ctx.callId.replace(/-pay$/, '')) })
    return result
  },
}

/** The key of the run that decides what the run of a key has asked. */
export function decidedKey(key: string): string {
  return `${key}:decided`
}

function tool(name: string, { reach }: Watch) {
  return defineTool({
    name,
    description: name,
    jsonSchema: { type: 'object', properties: { what: { type: 'string' } } },
    requireApproval: name === 'pay',
    async execute() {
      reach('tool begun')
      await sleep(1 + Math.random() * 20)
      reach('tool done')
      return `${name}: done`
    },
  })
}

/** By what was said since the last question, which is the key of its turn. */
const script = ({ messages }: ModelRequest) => {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const key = String(messages[at]?.content)
  const said = JSON.stringify(messages.slice(at + 1))
  const call = (name: string, args = {}) => ({ name, callId: `${key}-${name}`, args })
  if (said.includes(`"${key}-pay"`))
    return `All is booked for ${key}. Have a good journey, and write when you are back.`
  if (said.includes(`"${key}-train"`)) return { toolCalls: [call('pay')] }
  const day = `day ${Number(key.replace(/\D/g, '')) % 3}`
  return { toolCalls: [call('train'), call('room'), call('table', { what: day }), call('clerk', { task: day })] }
}

export const quiet = { ...console, warn() {}, error() {} }

let calls = 0

/** A model that notes what it costs, apart from every ledger. */
function billed(id: Id, step: ScriptedStep, { note, reach }: Watch): Model {
  const cost = costs[id]
  return {
    id,
    async *stream(request) {
      const call = `${process.pid}:${++calls}`
      note({ what: 'asked', step: stepNow.getStore() ?? '', call, cost })
      let isWhole = false
      try {
        for await (const chunk of scriptedModel([step], { id }).stream(request)) {
          reach('chunk')
          await sleep(1)
          if (chunk.type === 'finish') {
            note({ what: 'answered', call })
            isWhole = true
            yield { ...chunk, usage: { inputTokens: cost - 3, outputTokens: 3 } }
          } else yield chunk
        }
      } finally {
        if (!isWhole) note({ what: 'left', call })
      }
    },
  }
}
