import { checkEqual, checkRejects } from '../check.ts'
import { chat } from '../store/bench.ts'
import { find, hold, type PassageCases, say, scopeOf, textsAt, turnWith, writerOf } from './passage-bench.ts'

const ann = { tenant: chat.tenant, owner: chat.owner }
const bob = { ...chat, owner: 'bob' }
const globex = { ...chat, tenant: 'globex' }

/** Cases: a person or an operator switches memory off. */
export const switchCases: PassageCases = {
  async 'finds and stores nothing while memory is off for the person, in every process, and keeps what is stored'(
    bench,
  ) {
    for (const key of [chat, bob]) await say(bench, key, 'tea')
    const lease = await hold(bench)
    const turn = await turnWith(bench, lease, 'late', { from: 2 })
    await bench.other.passages.setOff(ann, 1000)
    checkEqual(await bench.passages.off(ann), { person: 1000 }, 'off() of the person')
    await bench.sessions.append(lease, 1, turn, { release: true })
    checkEqual(await bench.passages.key(ann), undefined, 'key() of a question')
    checkEqual(await bench.other.passages.key(ann, await writerOf(bench, lease)), undefined, 'key() of a run')
    checkEqual(await textsAt(bench.other, chat, 0, 1, 2, 3), ['tea', 're: tea'], 'Its passages stay')
    checkEqual((await find(bench, bob, 'tea')).length, 2, 'Others are not affected')
    await bench.passages.setOff(ann, undefined)
    checkEqual(await bench.other.passages.off(ann), {}, 'off() after it is on again')
    checkEqual((await find(bench.other, chat, 'tea', 'late')).length, 2, 'The stored ones are found again')
  },

  async 'is on for a person only if the tenant is on, too'(bench) {
    for (const key of [chat, bob, globex]) await say(bench, key, 'tea')
    await bench.passages.setOff({ tenant: chat.tenant }, 2000)
    await bench.passages.setOff(ann, 1000)
    checkEqual(await bench.other.passages.off(ann), { person: 1000, tenant: 2000 }, 'off() of both')
    await bench.other.passages.setOff(ann, undefined)
    checkEqual(await bench.passages.off(ann), { tenant: 2000 }, 'off() of the tenant')
    checkEqual(await find(bench, chat, 'tea'), [], 'The person cannot switch the tenant on')
    checkEqual([await find(bench, bob, 'tea'), (await find(bench, globex, 'tea')).length], [[], 2], 'All of the tenant')
    await bench.passages.setOff({ tenant: chat.tenant }, undefined)
    checkEqual((await find(bench.other, bob, 'tea')).length, 2, 'and on again')
  },

  async 'makes no key while memory is off'(bench) {
    const lease = await hold(bench)
    const writer = await writerOf(bench, lease)
    await bench.passages.setOff(ann, 1000)
    checkEqual(await bench.passages.key(ann, writer), undefined, 'key() while it is off')
    await bench.passages.setOff(ann, undefined)
    checkEqual(await bench.other.passages.key(ann), undefined, 'and none is left')
  },

  async 'leaves documents as they are while memory is off'(bench) {
    const documents = { ...chat, agent: 'memory:documents/handbook' }
    for (const of of [ann, { tenant: chat.tenant }]) await bench.other.passages.setOff(of, 1000)
    await say(bench, documents, 'tea')
    checkEqual((await bench.other.passages.key(documents)) === undefined, false, 'key() of documents')
    checkEqual(await bench.passages.key(ann), undefined, 'key() of conversations')
    checkEqual(await textsAt(bench.other, documents, 0), ['tea'], 'read() of documents')
  },

  async 'erases the switch with the person, and rejects a request from before'(bench) {
    await say(bench, chat, 'tea')
    const writer = { ...(await writerOf(bench, await hold(bench))), lease: undefined }
    await bench.passages.setOff(ann, 1000, writer)
    await bench.wait(bench.lease)
    await bench.other.sessions.erase(ann)
    checkEqual(await bench.passages.off(ann), {}, 'off() after the erasure')
    await checkRejects(bench.passages.setOff(ann, 1000, writer), 'store.fenced', 'setOff() of a request before it')
    checkEqual(await bench.other.passages.off(ann), {}, 'and nothing is stored')
  },

  async 'rejects a switch of nobody, or with a time that is none'(bench) {
    await checkRejects(bench.passages.setOff({ ...ann, owner: '' }, 1000), 'store.key', 'setOff() of an empty owner')
    await checkRejects(bench.passages.setOff(ann, Number.NaN), 'options.invalid', 'setOff() at NaN')
    await checkRejects(bench.passages.off({ ...ann, owner: 'a\u0000' }), 'store.key', 'off() of an invalid owner')
  },

  async 'writes the passages of a stored turn again, if the session is as it was read'(bench) {
    const lease = await hold(bench)
    const [first, second] = [
      await turnWith(bench, lease, 'tea'),
      await turnWith(bench, lease, 'milk', { from: 2, turnId: 'second' }),
    ]
    for (const [version, turn] of [first, second].entries())
      await bench.sessions.append(lease, version, { ...turn, passages: [] })
    const { rewrite } = bench.other.passages
    const rewritten = [
      await rewrite(chat, { version: 0, turns: 2 }, first),
      await rewrite(chat, { version: 1, turns: 2 }, second),
    ]
    checkEqual(rewritten, [true, true], 'rewrite() of both turns')
    checkEqual(await textsAt(bench, chat, 0, 1, 2, 3), ['tea', 're: tea', 'milk', 're: milk'], 'read()')
    checkEqual((await find(bench, chat, 'tea', 'milk')).length, 4, 'postings()')
    checkEqual(
      await rewrite(chat, { version: 0, turns: 2 }, { ...first, passages: [] }),
      true,
      'From its first message on',
    )
    checkEqual((await bench.passages.count(scopeOf(chat))).passages, 0, 'count() after that')
  },

  async 'writes nothing again for a session that has changed or is gone, or while memory is off'(bench) {
    await say(bench, chat, 'tea')
    const lease = await hold(bench)
    const turn = await turnWith(bench, lease, 'milk', { turnId: 'turn 0: tea' })
    const again = (turns = 1) => bench.other.passages.rewrite(chat, { version: 0, turns }, turn)
    checkEqual(await again(2), false, 'A session of another length')
    checkEqual(
      await bench.passages.rewrite(chat, { version: 0, turns: 1 }, { ...turn, turnId: 'x' }),
      false,
      'Another turn',
    )
    await bench.passages.setOff({ tenant: chat.tenant }, 1000)
    checkEqual(await again(), false, 'While memory is off')
    await bench.passages.setOff({ tenant: chat.tenant }, undefined)
    checkEqual((await find(bench, chat, 'tea', 'milk')).length, 2, 'The passages stay')
    await bench.sessions.delete(chat)
    checkEqual(await again(), false, 'A deleted session')
    await checkRejects(bench.passages.rewrite(chat, { version: 1, turns: 1 }, turn), 'options.invalid', 'No such turn')
  },
}
