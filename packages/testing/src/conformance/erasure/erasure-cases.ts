import type { SessionKey } from '@allium/core'
import { check, checkEqual } from '../check.ts'
import { checkErased, type ErasureBench, erase, play, ScriptedRun, startingSteps } from './erasure-bench.ts'
import { randomErasures } from './random-erasures.ts'

const ann: SessionKey = { tenant: 'acme-canary', owner: 'ann-canary', agent: 'agent', sessionId: 'chat-of-ann' }
const bob: SessionKey = { tenant: 'acme-canary', owner: 'bob-canary', agent: 'agent', sessionId: 'chat-of-bob' }
const account = ({ tenant, owner }: SessionKey) => JSON.stringify(['budget', tenant, owner])

/** Cases: erasure is final. */
export const erasureCaseList: Readonly<Record<string, (bench: ErasureBench) => Promise<void>>> = {
  async 'deletes everything of an erased owner, and nothing of other owners'(bench) {
    checkEqual(await play(new ScriptedRun(bench, ann, 'ann says canary')), [], 'A run is stored')
    checkEqual(await play(new ScriptedRun(bench, bob, 'bob says canary')), [], 'and another')
    await bench.wait(1)
    await erase(bench, ann)
    await checkErased(bench, ['ann says canary', ann.owner, ann.sessionId], 'erase() leaves nothing of an owner')
    const held = await bench.contents()
    check(held === undefined || held.includes('bob says canary'), 'and all of the others')
    await erase(bench, { tenant: bob.tenant })
    await checkErased(bench, ['canary', bob.sessionId], 'erase() leaves nothing of a tenant')
  },

  async 'rejects writes of a run that began before the erasure, at every step'(bench) {
    const steps = Object.keys(new ScriptedRun(bench, ann, '').steps)
    for (const [at] of steps.entries()) {
      const key = { ...ann, sessionId: `chat at ${at}` }
      const run = new ScriptedRun(bench, key, `canary at ${at}`)
      await play(run, steps.slice(0, at))
      await bench.wait(1)
      await erase(bench, at % 2 === 0 ? key : { tenant: key.tenant })
      await play(
        run,
        steps.slice(at).filter((step) => !startingSteps.has(step)),
      )
      await checkErased(bench, [run.text, key.owner, key.sessionId], `Nothing comes back after step ${at}`)
    }
  },

  async 'stores a run that begins after the erasure, also of the same owner and session'(bench) {
    const before = new ScriptedRun(bench, ann, 'first canary')
    await play(before, ['acquire', 'open', 'tell', 'placeholders', 'cache'])
    await bench.wait(1)
    await erase(bench, ann)
    await bench.wait(1)
    const after = new ScriptedRun(bench, ann, 'second canary')
    checkEqual(await play(after), [], 'A run that starts after the erasure can store its data')
    await play(before, ['tell', 'placeholders', 'cache', 'append', 'end'])
    await checkErased(bench, ['first canary'], 'The run from before writes over nothing')
    const held = await bench.contents()
    check(held === undefined || held.includes('second canary'), 'and later data remains')
  },

  async 'refunds no budget, and posts the spending of a run that began before the erasure'(bench) {
    const { ledger } = bench.store
    if (ledger === undefined) return
    const run = new ScriptedRun(bench, ann, 'canary')
    await play(run, ['reserve'])
    await bench.wait(1)
    await erase(bench, ann)
    checkEqual((await ledger.balance(account(ann))).reserved, 2, 'Reservations remain')
    await play(run, ['settle'])
    checkEqual(await ledger.balance(account(ann)), { spent: 1, reserved: 0 }, 'Spending is posted')
    const more = await ledger.reserve({ id: 'more', account: account(ann), amount: 1, limit: 1, by: run.by })
    checkEqual(more, undefined, 'and counts if the owner comes back')
    checkEqual(await ledger.holds?.('run canary'), [], 'An erased run has no holds')
  },

  async 'keeps the usage of a tenant, without the name of an owner'(bench) {
    const { usage } = bench.store
    if (usage === undefined) return
    const used = async () => (await usage({ tenant: ann.tenant })).map((row) => row.usage.inputTokens)
    await play(new ScriptedRun(bench, ann, 'canary'))
    await play(new ScriptedRun(bench, bob, 'bob canary'))
    checkEqual(await used(), [2], 'usage() reports the usage')
    await bench.wait(1)
    await erase(bench, ann)
    checkEqual(await used(), [2], 'also of an owner who was erased')
    await erase(bench, { tenant: ann.tenant })
    checkEqual(await used(), [2], 'and of a tenant')
    await checkErased(bench, ['canary'], 'Totals have no name')
  },

  'leaves nothing if owners are erased at random moments during runs': (bench) => randomErasures(bench),
}
