import { check, checkEqual, checkRejects } from '../check.ts'
import { turnOf } from '../store/bench.ts'
import { bytesOf, imagesIn, largeValues, turnWith } from '../store/blob-cases.ts'
import { claim, type RunCases, runOf, startRun } from './run-bench.ts'

const chat = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

/** Cases for images and files in steps of durable runs: a store may keep their bytes separately. */
export const stepBlobCases: RunCases = {
  async 'returns steps with large bytes, base64 and data URLs unchanged'(bench) {
    const { runs, other, lease: ms } = bench
    const { lease } = await startRun({ ...bench, lease: ms * 100 }, runOf('one', chat))
    const posing = [{ $blob: 0 }, '{"$blobs":[]}\n{"$blob":0}', { $$blob: 0 }]
    const bodies = [[largeValues(), { result: bytesOf(270_000) }], posing, JSON.stringify(posing), [[], { a: 1n }]]
    for (const [i, body] of bodies.entries()) await runs.record(lease, 'one', { id: `s${i}`, body })
    const steps = (await other.runs.steps(lease, 'one')).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const given = bodies.map((body, i) => ({ id: `s${i}`, body }))
    checkEqual(steps, given, 'Another process receives every value unchanged')
  },

  async 'takes its own copy of the bytes of a step before it waits for anything'(bench) {
    const { runs, other, lease: ms } = bench
    const { lease } = await startRun({ ...bench, lease: ms * 100 }, runOf('one', chat))
    const body = bytesOf(270_000)
    const recorded = runs.record(lease, 'one', { id: 's', body })
    body.fill(0)
    await recorded
    const [step] = await other.runs.steps(lease, 'one')
    checkEqual(step?.body, bytesOf(270_000), 'Later changes by the caller have no effect')
  },

  async 'keeps an image of a step, and of the task, as long as the run or a turn has it'(bench) {
    const { runs, other, sessions, lease: ms } = bench
    const image = bytesOf(270_000)
    const one = runOf('one', chat, { task: image })
    const { lease } = await startRun({ ...bench, lease: ms * 100 }, one)
    for (const id of ['a', 'b']) await runs.record(lease, 'one', { id, body: [image] })
    const kept = { ...chat, sessionId: 'kept' }
    const { lease: second } = await startRun({ ...bench, lease: ms * 100 }, runOf('two', kept))
    await runs.record(second, 'two', { id: 'a', body: image })
    await sessions.append(lease, 0, { ...turnWith(image), turnId: 'one' }, { release: true })
    checkEqual(imagesIn(await other.sessions.load(chat)), [image], 'The turn of the run has the image')
    await sessions.delete(chat)
    checkEqual((await other.runs.steps(second, 'two'))[0]?.body, image, 'The step of another run keeps its own')
    await runs.giveUp(second, 'two', { status: 'failed', code: 'run.failed', reason: 'test' })
    check(await runs.retry({ tenant: 'acme', run: 'two' }), 'A failed run continues')
    checkEqual((await other.runs.steps(second, 'two'))[0]?.body, image, 'with the images of its steps')
  },

  async 'adds a run with an image while its owner is erased, whole or not at all'(bench) {
    const { runs, other, sessions, lease: ms } = bench
    for (const round of Array(8).keys()) {
      const key = { ...chat, sessionId: `chat ${round}` }
      const { lease } = await sessions.acquire(key, ms * 100)
      if (lease !== undefined) await sessions.append(lease, 0, turnWith(bytesOf(5000)), { release: true })
      const erasing = sessions.erase({ tenant: 'acme', owner: 'ann' })
      for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setTimeout(resolve))
      const added = await runs.add(runOf(`r${round}`, key, { task: bytesOf(270_000) })).catch(() => undefined)
      await erasing
      const [found] = await claim(bench, other.runs, { limit: 1 })
      const stands = await other.runs.get({ tenant: 'acme', run: `r${round}` })
      checkEqual(found?.run.run, stands?.run, 'A run that remains after the erasure can be claimed')
      if (found === undefined) continue
      check(added !== undefined, 'A rejected run does not exist')
      checkEqual(found.run.task, bytesOf(270_000), 'and has its image')
      await runs.giveUp(found.lease, found.run.run, { status: 'aborted', code: 'run.failed', reason: 'test' })
    }
  },

  async 'does not record a step with an image once the lease is lost or the run was erased'(bench) {
    const { runs, other, sessions, lease: ms } = bench
    const image = bytesOf(1_000_000)
    const { lease } = await startRun({ ...bench, lease: ms * 100 }, runOf('one', chat))
    const recorded = runs.record(lease, 'one', { id: 's', body: image }).catch(() => {})
    await sessions.erase({ tenant: 'acme', owner: 'ann' })
    await recorded
    checkEqual(await other.runs.steps(lease, 'one'), [], 'No data of an erased run is left')
    await checkRejects(runs.record(lease, 'one', { id: 't', body: image }), 'store.fenced', 'record() of an erased run')
    const again = await startRun({ ...bench, lease: ms * 100 }, runOf('two', chat))
    await runs.record(again.lease, 'two', { id: 's', body: image })
    checkEqual((await other.runs.steps(again.lease, 'two'))[0]?.body, image, 'A later run has its image')
    await sessions.append(again.lease, 0, { ...turnOf('done'), turnId: 'two' })
    checkEqual(await other.runs.steps(again.lease, 'two'), [], 'and no step after its end')
  },
}
