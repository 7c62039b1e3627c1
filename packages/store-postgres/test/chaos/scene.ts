import { appendFileSync } from 'node:fs'
import { Agent, defineTool, type Middleware } from '@allium/core'
import { record } from '@allium/core/context'
import { budget, rateLimit } from '@allium/guard'
import { persist } from '@allium/memory'
import { type Ledger, type SessionStore, sharedStore } from '@allium/store'
import type { RedisStore } from '@allium/store-redis'
import { sqlite } from '@allium/store-sqlite'
import { postgres } from '../../src/index.ts'
import { billedModel } from './bills.ts'
import { doubted } from './doubted.ts'

/** Where a process may be killed, in the order of a turn. */
export const labels = [
  'turn open',
  'input kept',
  'record',
  'model result',
  'tool start',
  'tool end',
  'approval used',
  'renew',
  'commit',
  'release',
  'acknowledge',
  'migrate',
] as const
export type Label = (typeof labels)[number]

/** Where a store is, and what processes note beside it. */
export interface Place {
  readonly kind: 'sqlite' | 'postgres'
  /** The file, or the URL. */
  readonly at: string
  readonly schema: string
  /** A file with a line for each time that a tool ran. */
  readonly effects: string
  /** A file with a line for each thing that became of a model call. */
  readonly bills: string
  /** The Redis that limits turns, where there is one. */
  readonly redis: string | undefined
}

/** What a process is to do. */
export interface Job extends Place {
  readonly session: string
  readonly key: string
  readonly label: Label | undefined
  readonly signal: 'SIGKILL' | 'SIGSTOP'
  /** Of the statements that make the tables, the one at which it is killed. */
  readonly statement: number
}

export const lease = 600
/** What all turns are charged to. */
export const account = 'chaos'
export const principal = { tenantId: 'acme', userId: 'ann' }

export interface Opened {
  sessions: SessionStore
  ledger: Ledger
  close(): unknown
}

export function open({ kind, at, schema }: Pick<Place, 'kind' | 'at' | 'schema'>) {
  return kind === 'sqlite' ? sqlite(at, { synchronous: 'normal' }) : postgres({ url: at, schema })
}

export type Reach = (label: Label) => void | Promise<void>

interface Scene {
  readonly reach?: Reach | undefined
  readonly redis?: RedisStore | undefined
}

/** An agent that pays once a turn, on a store that ends the process at a place. */
export function agentOn(given: Opened, job: Job, { reach = () => {}, redis }: Scene = {}): Agent {
  const store = doubted(given)
  let isPaying = false
  const pay = defineTool({
    name: 'pay',
    description: 'Pays',
    jsonSchema: { type: 'object', properties: {} },
    requireApproval: job.label === 'approval used',
    async execute() {
      isPaying = true
      await reach('tool start')
      appendFileSync(job.effects, `${job.key}\n`)
      if (job.label === 'renew') await new Promise((resolve) => setTimeout(resolve, lease * 2))
      return 'paid'
    },
  })
  return new Agent({ model: billedModel(job, reach), tools: [pay], approvals: { secret: 'chaos' } })
    .use(persist({ store: watched(store.sessions, reach, job, () => isPaying), lease }))
    .use(sharing(store))
    .use(budget({ limit: 1e9, unit: 'tokens', per: () => account }))
    .use(limited(redis))
    .use(reaching(job, reach)) as Agent
}

/** As an agent with a store: the budget posts a call with the end of its turn. */
function sharing(store: Opened): Middleware {
  return {
    name: 'store',
    provides: [sharedStore],
    async agent(ctx, next) {
      ctx.provide(sharedStore, store)
      await next()
    },
  }
}

function limited(redis: RedisStore | undefined): Middleware[] {
  return redis === undefined ? [] : [rateLimit({ limit: 1e6, window: 'hour', store: redis.limits })]
}

function reaching(job: Job, reach: Reach): Middleware {
  return {
    name: 'chaos',
    async turn(ctx, next) {
      await reach('turn open')
      record(ctx, 'paid', { key: job.key })
      await reach('record')
      await next()
    },
    async tool(_, next) {
      const result = await next()
      await reach('tool end')
      return result
    },
  }
}

function watched(sessions: SessionStore, reach: Reach, job: Job, isPaying: () => boolean): SessionStore {
  let resumed = false
  return {
    ...sessions,
    async checkpoint(heldLease, version, turn) {
      await sessions.checkpoint(heldLease, version, turn)
      resumed ||= turn.resumes !== undefined
      await reach(resumed ? 'approval used' : 'input kept')
    },
    async renew(heldLease, ms) {
      // On a slow machine it is renewed before too: what a call holds that nobody has made yet is on no bill.
      if (isPaying()) await reach('renew')
      return sessions.renew(heldLease, ms)
    },
    async append(heldLease, version, turn, options) {
      if (job.label !== 'approval used') await reach('commit')
      await sessions.append(heldLease, version, turn, options)
      if (job.label !== 'approval used') await reach('release')
    },
  }
}
