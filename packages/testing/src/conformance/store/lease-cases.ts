import { check, checkEqual, checkRejects } from '../check.ts'
import { acquireLease, chat, isHeld, type StoreCases, textsIn, turnOf } from './bench.ts'

/** Cases: one writer at a time, and late writers are rejected. */
export const leaseCases: StoreCases = {
  async 'rejects a locked session'({ store, other, lease: ms }) {
    await acquireLease(store, chat, ms)
    check(await isHeld(other, chat, ms), 'acquire() of a locked session returns no lease')
    check(await isHeld(store, chat, ms), 'also in the process that has it')
    await acquireLease(other, { ...chat, sessionId: 'other' }, ms)
    await acquireLease(other, { ...chat, tenant: 'other' }, ms)
  },

  async 'gives a session to exactly one of many concurrent callers'({ store, other, lease: ms }) {
    const attempts = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? store : other).acquire(chat, ms))
    const given = (await Promise.all(attempts)).filter(({ lease }) => lease !== undefined)
    checkEqual(given.length, 1, `One of 20 concurrent callers must get the lease, but ${given.length} did`)
  },

  async 'tells each lease by a token that grows, also over an end of a lease and a delete'(bench) {
    const { store, other, lease: ms, wait } = bench
    const tokens: number[] = []
    const next = async () => {
      const lease = await acquireLease(tokens.length % 2 === 0 ? store : other, chat, ms)
      tokens.push(lease.token)
      return lease
    }
    await store.release(await next())
    const second = await next()
    await store.append(second, 0, turnOf('one'))
    await store.release(second)
    await next()
    await wait(ms * 2)
    const fourth = await next()
    await store.delete(chat)
    await store.release(fourth)
    await wait(ms * 2)
    await next()
    const growing = tokens.every((token, i) => i === 0 || token > (tokens[i - 1] as number))
    check(growing, `Tokens of one session increase, but were ${tokens.join(', ')}`)
  },

  async 'ends a lease when its time is up, and gives the session to the next'({ store, other, lease: ms, wait }) {
    const began = performance.now()
    await acquireLease(store, chat, ms)
    await wait(ms / 2)
    const lasts = await isHeld(other, chat, ms)
    // A busy machine may have taken longer than the lease lasts.
    check(lasts || performance.now() - began > ms, 'A lease lasts as long as requested')
    await wait(ms)
    await acquireLease(other, chat, ms)
  },

  async 'rejects a late writer whose session another process holds'({ store, other, lease: ms, wait }) {
    const stale = await acquireLease(store, chat, ms)
    await wait(ms * 2)
    const fresh = await acquireLease(other, chat, ms)
    await checkRejects(store.append(stale, 0, turnOf('late')), 'store.fenced', 'append() with a lease that was lost')
    await other.append(fresh, 0, turnOf('fresh'))
    await checkRejects(store.append(stale, 1, turnOf('late', 2)), 'store.fenced', 'append() with a lease that was lost')
    checkEqual(await textsIn(store, chat), ['fresh', 're: fresh'], 'A late writer leaves nothing')
  },

  async 'refuses a late writer also after the next has come and gone'({ store, other, lease: ms, wait }) {
    const stale = await acquireLease(store, chat, ms)
    await wait(ms * 2)
    const fresh = await acquireLease(other, chat, ms)
    await other.release(fresh)
    await checkRejects(store.append(stale, 0, turnOf('late')), 'store.fenced', 'append() with a lease that was lost')
    await checkRejects(other.append(fresh, 0, turnOf('late')), 'store.fenced', 'append() after release()')
    checkEqual(await store.load(chat), undefined, 'A late writer leaves nothing')
  },

  async 'rejects a writer with an expired lease, until it is renewed'({ store, lease: ms, wait }) {
    const stale = await acquireLease(store, chat, ms)
    await wait(ms * 2)
    await checkRejects(store.append(stale, 0, turnOf('late')), 'store.fenced', 'append() after the lease ran out')
    checkEqual(await store.renew(stale, ms), true, 'renew() of an expired lease without a new holder returns true')
    await store.append(stale, 0, turnOf('in time'))
  },

  async 'prolongs a lease that is renewed, from now on'({ store, other, lease: ms, wait }) {
    const lease = await acquireLease(store, chat, ms)
    for (let i = 0; i < 5; i++) {
      await wait(ms * 0.6)
      checkEqual(await store.renew(lease, ms), true, 'renew() of an active lease returns true')
      check(await isHeld(other, chat, ms), 'A renewed lease is active')
    }
    await store.append(lease, 0, turnOf('long'))
    await wait(ms * 2)
    await acquireLease(other, chat, ms)
  },

  async 'does not renew a lease that another process holds'({ store, other, lease: ms, wait }) {
    const stale = await acquireLease(store, chat, ms)
    await wait(ms * 2)
    const fresh = await acquireLease(other, chat, ms)
    checkEqual(await store.renew(stale, ms * 100), false, 'renew() of a lost lease gives false')
    checkEqual(await other.renew(fresh, ms), true, 'The new holder keeps its lease')
    await wait(ms * 2)
    await acquireLease(store, chat, ms)
  },

  async 'frees a session at once when it is released, also twice'({ store, other, lease: ms }) {
    const lease = await acquireLease(store, chat, ms)
    await store.release(lease)
    await store.release(lease)
    checkEqual(await store.renew(lease, ms), false, 'renew() after release() gives false')
    await acquireLease(other, chat, ms)
  },

  async 'does not release a session that another process holds'({ store, other, lease: ms, wait }) {
    const stale = await acquireLease(store, chat, ms)
    await wait(ms * 2)
    const fresh = await acquireLease(other, chat, ms)
    await store.release(stale)
    check(await isHeld(store, chat, ms), 'release() with a stale lease frees nothing')
    await other.append(fresh, 0, turnOf('mine'))
  },
}
