import type { FeedbackEvent, FeedbackKey, FeedbackStore } from '@allium/store'
import type { Access, StoreReader } from '../host/host.ts'
import { type Caller, type Ctx, resolveCaller } from '../request/caller.ts'
import { readableKey } from '../request/require-session.ts'
import type { Serve } from '../request/router.ts'
import type { Rate } from './rate.ts'
import { ratedRun } from './rated-run.ts'
import { routes } from './route-table.ts'
import { viewOf } from './view.ts'

/** The own feedback that one request returns, newest first. */
const maxOwn = 100

/** What the routes need besides the records of the server. */
export interface FeedbackParts {
  readonly rate: Rate
  storeOf(caller: Caller): FeedbackStore
  /** Receives the event of a change. Never throws. */
  changed(event: FeedbackEvent): Promise<void>
}

/** Adds the routes with which callers give feedback on the runs that they may read. */
export function feedbackRoutes(serve: Serve, host: Access & StoreReader, parts: FeedbackParts): void {
  serve(routes.put, async (c, read) => {
    const since = host.clock.now()
    const { caller, params, query, body } = await requested(c, read)
    const { store, of } = await changeable(caller, params, query.owner)
    const previous = await store.get(of)
    const feedback = { ...of, ...body, at: host.clock.now() }
    const { tenant, owner } = of.run.key
    await store.put(feedback, { tenant, owner, since })
    await parts.changed({ type: 'feedback:stored', ...of, feedback, previous })
    return c.json(await viewOf(host, of.run.key, feedback))
  })

  serve(routes.remove, async (c, read) => {
    const { caller, params, query } = await requested(c, read)
    const { store, of } = await changeable(caller, params, query.owner)
    const previous = await store.get(of)
    if (await store.delete(of)) await parts.changed({ type: 'feedback:removed', ...of, previous })
    return c.body(null, 204)
  })

  serve(routes.own, async (c, read) => {
    const { caller, params, query } = await requested(c, read)
    const key = await readableKey(host, caller, params.id, query.owner)
    const { items } = await parts.storeOf(caller).list({ ...key, by: caller.owner, limit: maxOwn })
    return c.json({ feedback: await Promise.all(items.map((one) => viewOf(host, key, one))) })
  })

  async function requested<R extends object>(c: Ctx, read: () => Promise<R>): Promise<R & { caller: Caller }> {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    return { caller, ...(await read()) }
  }

  /** Returns the key of the caller's feedback. Counts only requests about a run that the caller may read. */
  async function changeable(
    caller: Caller,
    params: { id: string; run: string },
    owner: string | undefined,
  ): Promise<{ store: FeedbackStore; of: FeedbackKey }> {
    const key = await readableKey(host, caller, params.id, owner)
    await parts.rate.consume(caller)
    const turnId = await ratedRun(host, key, params.run)
    return { store: parts.storeOf(caller), of: { run: { key, turnId }, by: caller.owner } }
  }
}
