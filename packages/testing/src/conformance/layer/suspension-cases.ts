import type { Session } from '@allium/core'
import { check, checkEqual } from '../check.ts'
import { show } from '../difference.ts'
import { type Bench, defaultSteps, makeBench } from './bench.ts'
import { at, callScopes } from './hook-placements.ts'
import { type LayerUnderTest, makeLayer } from './layer-under-test.ts'
import { completed, runTurn, type TurnRun } from './run.ts'

/** Cases: an inner call waits for a human. */
export const suspensionCases = {
  async 'lets a suspension through, and runs again on resume'(options: LayerUnderTest) {
    const bench = suspendingBench(options)
    const session = bench.session()
    const resume = await suspendRun(bench, session)
    const seen = bench.calls.length
    const { text } = completed(await resume(), 'A call that waited was approved')
    checkEqual(bench.executed.length, 1, 'A call that was approved runs, once')
    for (const scope of callScopes) {
      if (bench.layer[scope] === undefined) continue
      const calledScope = (calls: Bench['calls']) => calls.some((call) => call.scope === scope)
      check(calledScope(bench.calls.slice(0, seen)), `The layer's ${scope} hook runs in the run that is suspended`)
      check(calledScope(bench.calls.slice(seen)), `The layer's ${scope} hook runs in the run that resumes it`)
    }
    const plain = makeBench(options, { steps: defaultSteps })
    const completeRun = completed(await runTurn(plain, plain.session()), 'A plain run')
    checkEqual(text, completeRun.text, 'A suspended turn has the same result as an uninterrupted one')
  },

  async 'resumes in another process'(options: LayerUnderTest) {
    const first = suspendingBench(options)
    const session = first.session()
    await suspendRun(first, session)
    const snapshot = JSON.parse(JSON.stringify(session.snapshot()))
    const second = suspendingBench(options, defaultSteps.slice(1))
    const later = second.session()
    await later.open()
    later.restore(snapshot)
    completed(await approve(second, later), 'A call that waited was approved in another process')
    checkEqual(second.executed.length, 1, 'A call that was approved runs, once')
  },

  async 'gives the model the refusal of a call that waited'(options: LayerUnderTest) {
    const bench = suspendingBench(options)
    const session = bench.session()
    await suspendRun(bench, session)
    const callId = session.pending[0]?.callId ?? ''
    const ran = await runTurn(bench, session, () => session.resume({ [callId]: { deny: 'Not today.' } }))
    const { toolCalls } = completed(ran, 'A call that waited was refused')
    checkEqual(toolCalls[0]?.result.status, 'denied', 'A call that was refused is denied')
    checkEqual(bench.executed, [], 'A tool whose call was refused does not run')
  },
}

function suspendingBench(options: LayerUnderTest, steps = defaultSteps): Bench {
  const suspends = at('tool', makeLayer(options), (ctx, next) =>
    ctx.approval === undefined ? ctx.suspend({ reason: 'planted' }) : next(),
  )
  return makeBench(options, { steps, inside: [suspends] })
}

/** Runs until the call waits, and returns the function that approves it. */
async function suspendRun(bench: Bench, session: Session): Promise<() => Promise<TurnRun>> {
  const { result, error } = await runTurn(bench, session)
  const seen = result === undefined ? `failed: ${show(error)}` : `ended ${result.status}`
  check(result?.status === 'suspended', `A suspension inside ends the run as suspended, but it ${seen}`)
  checkEqual(
    result.pending.map(({ name, request }) => ({ name, request })),
    [{ name: 'work', request: { reason: 'planted' } }],
    'The call is pending',
  )
  return () => approve(bench, session)
}

function approve(bench: Bench, session: Session): Promise<TurnRun> {
  const callId = session.pending[0]?.callId ?? ''
  return runTurn(bench, session, () => session.resume({ [callId]: { approve: true } }))
}
