import type { Journal } from '@allium/core'
import { journalConformance } from '@allium/testing'
import { type ObjectContext, object, TerminalError } from '@restatedev/restate-sdk'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { recorded } from '../src/index.ts'
import { polyfillWithResolvers } from '../src/with-resolvers.ts'
import { ownServer, type Server, serveHere } from './server.ts'

polyfillWithResolvers()

/** The journal of an attempt, and how it ends. */
interface Attempt {
  readonly journal: Journal
  end(error?: Error): void
}

const waiting = new Map<string, (attempt: Attempt) => void>()
const bench = object({
  name: 'bench',
  handlers: {
    hold: (ctx: ObjectContext) =>
      recorded(
        ctx,
        (journal) =>
          new Promise((resolve, reject) => {
            const end = (error?: Error) => (error === undefined ? resolve('done') : reject(error))
            waiting.get(ctx.key)?.({ journal, end })
          }),
      ),
  },
  options: { retryPolicy: { initialInterval: 10, maxInterval: 50 } },
})

let server: Server
let endpoint: Awaited<ReturnType<typeof serveHere>>
beforeAll(async () => {
  ;[server, endpoint] = await Promise.all([ownServer(), serveHere([bench])])
  await server.register(endpoint.port)
})
afterAll(async () => {
  await endpoint.close()
  await server.stop()
})

let cases = 0
journalConformance({
  name: 'Restate',
  describe,
  it,
  async makeJournal() {
    const key = `case-${cases++}`
    const attempt = () => new Promise<Attempt>((begun) => waiting.set(key, begun))
    const first = attempt()
    await fetch(`${server.ingress}/bench/${key}/hold/send`, { method: 'POST' })
    let now = await first
    let over = () => {}
    let reopened = new Promise<void>((resolve) => (over = resolve))
    /** As a run does it: what was under way when its attempt ended is asked for again in the next one. */
    const step: Journal['step'] = async (id, work, emit) => {
      for (;;) {
        const asked = Promise.resolve(now.journal.step(id, work, emit)).then((result) => ({ result }))
        const done = await Promise.race([asked, reopened])
        if (done !== undefined) return done.result
      }
    }
    return {
      journal: { step, known: (id) => now.journal.known?.(id) ?? false },
      async reopen() {
        const next = attempt()
        now.end(new Error('The process is gone'))
        now = await next
        over()
        reopened = new Promise((resolve) => (over = resolve))
        return now.journal
      },
      close: () => now.end(new TerminalError('done')),
    }
  },
})
