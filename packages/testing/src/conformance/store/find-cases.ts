import type { SessionKey, StoredTurn } from '@allium/core'
import { checkEqual } from '../check.ts'
import { acquireLease, add, chat, runningTurn, type StoreCases, turnOf } from './bench.ts'
import { fullTurn } from './samples.ts'

/** Cases: finding single runs, and earlier versions of a session. */
export const findCases: StoreCases = {
  async 'finds a run by its id and by its key, including an active one'(bench) {
    const one = { ...turnOf('one'), idempotencyKey: 'k1', inputDigest: 'd1' }
    const two = turnOf('two', 2)
    await add(bench, chat, one, two)
    const open = runningTurn('three', 4, { idempotencyKey: 'k3', inputDigest: 'd3' })
    await bench.store.checkpoint(await acquireLease(bench.store, chat, bench.lease * 100), 2, open)
    for (const turn of [one, two, open]) {
      const { turnId, idempotencyKey } = turn
      checkEqual(await bench.other.find(chat, { turnId }), turn, 'find() by the id of a run gives the run')
      if (idempotencyKey === undefined) continue
      checkEqual(await bench.other.find(chat, { idempotencyKey }), turn, 'find() by the key of a run gives the run')
    }
  },

  async 'finds a run by the version that it made'(bench) {
    const turns = [turnOf('one'), turnOf('two', 2), turnOf('three', 4)]
    await add(bench, chat, ...turns)
    await bench.store.checkpoint(await acquireLease(bench.store, chat, bench.lease * 100), 3, runningTurn('four', 6))
    const found = await Promise.all([1, 2, 3].map((version) => bench.other.find(chat, { version })))
    checkEqual(found, turns, 'find() by a version gives the run whose append made it')
    for (const version of [-1, 0, 4])
      checkEqual(await bench.other.find(chat, { version }), undefined, `The version ${version} does not exist`)
  },

  async 'finds no run of another session, nor one that is not there'(bench) {
    await add(bench, chat, { ...turnOf('one'), idempotencyKey: 'k1' }, turnOf('two', 2))
    await add(bench, { ...chat, sessionId: 'other' }, turnOf('other'))
    const others: SessionKey[] = [
      { ...chat, sessionId: 'other' },
      { ...chat, sessionId: 'new' },
      { ...chat, owner: 'bob' },
      { ...chat, owner: '' },
      { ...chat, tenant: 'globex' },
      { ...chat, tenant: '' },
    ]
    for (const key of others) {
      const found = [await bench.other.find(key, { turnId: 'turn-one' }), await bench.other.find(key, idempotent('k1'))]
      checkEqual(found, [undefined, undefined], `find() in ${JSON.stringify(key)} finds nothing of another session`)
    }
    for (const name of ['', 'k', 'K1', 'k1 ', '%', 'turn-one', 'undefined', 'null', '__proto__'])
      checkEqual(
        await bench.other.find(chat, idempotent(name)),
        undefined,
        `No run has the key ${JSON.stringify(name)}`,
      )
    for (const turnId of ['', 'TURN-ONE', 'turn-one ', 'turn_one', '%', 'k1', '__proto__'])
      checkEqual(await bench.other.find(chat, { turnId }), undefined, `No run has the id ${JSON.stringify(turnId)}`)
  },

  async 'returns every field of a run, while it is active and after its end'(bench) {
    const { store, other, lease: ms } = bench
    await add(bench, chat, turnOf('one'))
    const lease = await acquireLease(store, chat, ms * 100)
    const { endedAt: _, ...begun } = fullTurn(1)
    const open: StoredTurn = { ...begun, status: 'running' }
    await store.checkpoint(lease, 1, open)
    checkEqual((await other.load(chat))?.open, open, 'load() gives the open run as it was checkpointed')
    await store.append(lease, 1, fullTurn(1))
    checkEqual(await other.find(chat, { turnId: open.turnId }), fullTurn(1), 'find() gives the run as it was appended')
  },

  async 'loads a session as it was after any number of turns'(bench) {
    const [one, two, three] = [turnOf('one'), turnOf('two', 2), turnOf('three', 1)]
    await add(bench, chat, one, two, three)
    const lease = await acquireLease(bench.store, chat, bench.lease * 100)
    await bench.store.checkpoint(lease, 3, runningTurn('open', 3))
    const after = async (version: number) => await bench.other.load(chat, { version })
    const was = (version: number, { rest }: StoredTurn, ...history: StoredTurn['messages']) =>
      ({ version, owner: chat.owner, history, rest }) as const
    checkEqual(await after(1), was(1, one, ...one.messages), 'load() of version 1')
    checkEqual(await after(2), was(2, two, ...one.messages, ...two.messages), 'load() of version 2')
    const last = was(3, three, ...one.messages.slice(0, 1), ...three.messages)
    checkEqual({ ...(await after(3)), open: undefined }, last, 'load() of the last version')
    checkEqual(
      [await after(0), await after(4)],
      [undefined, undefined],
      'Neither version 0 nor a version after the last one exists',
    )
  },
}

function idempotent(idempotencyKey: string): { idempotencyKey: string } {
  return { idempotencyKey }
}
