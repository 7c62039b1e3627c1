import { isAlliumError, type SessionKey } from '@allium/core'
import { check, checkEqual } from '../check.ts'
import { show } from '../difference.ts'
import {
  acquireLease,
  add,
  chat,
  nowOf,
  runningTurn,
  type StoreBench,
  type StoreCases,
  suspendedTurn,
  turnOf,
} from './bench.ts'

const named = (sessionId: string): SessionKey => ({ ...chat, sessionId })

/** Cases: exactly the data to be erased is gone. */
export const eraseCases: StoreCases = {
  async 'erases all sessions of an owner or a tenant, those alone, and tells how many'(bench) {
    const keys = ['acme', 'ACME', ''].flatMap((tenant) =>
      ['ann', 'an_', ''].flatMap((owner) =>
        ['a', 'b'].map((sessionId) => ({ tenant, owner, agent: `agent ${sessionId}`, sessionId })),
      ),
    )
    for (const key of keys) await add(bench, key, turnOf('one'))
    await add(bench, { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'only taken' })
    let left = keys
    const erased = async (of: { tenant: string; owner?: string }) => {
      const goes = ({ tenant, owner }: SessionKey) => tenant === of.tenant && owner === (of.owner ?? owner)
      const count = left.filter(goes).length
      checkEqual(await bench.store.erase(of), count, `erase(${JSON.stringify(of)}) returns the number of sessions`)
      left = left.filter((key) => !goes(key))
      const there = await Promise.all(keys.map(async (key) => (await bench.other.load(key)) !== undefined))
      const found = keys.filter((_, i) => there[i])
      checkEqual(found, left, `erase(${JSON.stringify(of)}) deletes those sessions, and no others`)
    }
    await erased({ tenant: 'acme', owner: 'an_' })
    await erased({ tenant: 'acme', owner: '' })
    await erased({ tenant: '', owner: 'nobody' })
    await erased({ tenant: 'ACME' })
    await erased({ tenant: '', owner: '' })
    await erased({ tenant: 'acme' })
    await erased({ tenant: 'acme' })
    checkEqual((await bench.other.list({ tenant: 'acme', limit: 10 })).items, [], 'None of its sessions are listed')
  },

  'does not bring a session back that was deleted while a run was open in it': (bench) =>
    forgetsOpen(bench, () => bench.other.delete(chat)),

  'erases sessions with active runs, and does not bring them back': (bench) =>
    forgetsOpen(bench, async () => {
      checkEqual(await bench.other.erase({ tenant: chat.tenant }), 1, 'A session in its first run counts')
    }),

  async 'forgets sessions whose last turn is older than that, and tells how many'(bench) {
    const { store, other, lease: ms, wait } = bench
    await add(bench, named('old'), turnOf('one'))
    await add(bench, { ...named('old'), tenant: 'globex' }, turnOf('one'))
    await add(bench, named('again'), turnOf('one'))
    await store.checkpoint(await acquireLease(store, named('lost'), ms), 0, runningTurn('one'))
    checkEqual(await store.expire({ olderThan: ms * 10 }), 0, 'New sessions are not deleted')
    await wait(ms * 20)
    await add(bench, named('again'), turnOf('two', 2))
    await add(bench, named('new'), turnOf('one'))
    checkEqual(await store.expire({ olderThan: ms * 10 }), 3, 'expire() tells how many it has forgotten')
    checkEqual(await listed(bench), ['again', 'new'], 'Sessions with a turn since then stay')
    checkEqual(
      await other.load({ ...named('old'), tenant: 'globex' }),
      undefined,
      'Sessions of every tenant are deleted',
    )
    checkEqual(await other.load(named('lost')), undefined, 'A run whose process was lost does not keep its session')
  },

  async 'keeps an expired session while it is locked or has a pending call'(bench) {
    const { store, lease: ms, wait } = bench
    const expiresAt = (await nowOf(bench)) + ms * 50
    await add(bench, named('taken'), turnOf('one'))
    await add(
      bench,
      named('waits'),
      suspendedTurn('one', { c1: { token: 't', expiresAt: expiresAt - ms * 49 }, c2: { token: 'u', expiresAt } }),
    )
    await add(bench, named('waited'), suspendedTurn('one', { c3: { token: 'v', expiresAt: expiresAt - ms * 49 } }))
    const lease = await acquireLease(store, named('taken'), ms * 100)
    await wait(ms * 20)
    checkEqual(await store.expire({ olderThan: ms * 10 }), 1, 'expire() leaves locked and pending sessions')
    checkEqual(await listed(bench), ['taken', 'waits'], 'A call that can be approved, and a live lease, keep a session')
    await store.release(lease)
    checkEqual(await store.expire({ olderThan: ms * 10 }), 1, 'A released session is deleted')
    await wait(ms * 40)
    checkEqual(await store.expire({ olderThan: ms * 10 }), 1, 'and so does a call that only can be refused')
    checkEqual(await listed(bench), [], 'Nothing is left')
  },
}

async function listed({ other }: StoreBench): Promise<string[]> {
  const { items } = await other.list({ tenant: chat.tenant, limit: 10 })
  return items.map(({ key }) => key.sessionId).toSorted()
}

/** Checks that the open run and its lease become void when the session is deleted. */
async function forgetsOpen({ store, other, lease: ms }: StoreBench, forget: () => Promise<void>): Promise<void> {
  const lease = await acquireLease(store, chat, ms * 100)
  await store.checkpoint(lease, 0, runningTurn('one'))
  await forget()
  for (const [what, late] of [
    ['checkpoint', () => store.checkpoint(lease, 0, runningTurn('one'))],
    ['append', () => store.append(lease, 0, turnOf('one'))],
  ] as const) {
    const end = await late().then(
      () => 'it was stored',
      (error: unknown) => error,
    )
    check(
      isAlliumError(end, 'store.fenced') || isAlliumError(end, 'store.conflict'),
      `${what}() to a deleted session rejects with "store.fenced" or "store.conflict", but: ${show(end)}`,
    )
  }
  checkEqual(await other.load(chat), undefined, 'The session stays deleted')
  checkEqual(await other.find(chat, { turnId: 'turn-one' }), undefined, 'and its run is not found')
  checkEqual((await other.list({ tenant: chat.tenant, limit: 10 })).items, [], 'nor listed')
  const { open, version } = await acquireLease(other, chat, ms)
  checkEqual([open, version], [undefined, 0], 'The next holder starts from the beginning, at once')
}
