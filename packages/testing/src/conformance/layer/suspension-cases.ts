import type { Session } from '@allium/core'
import { check, checkEqual } from '../check.ts'
import { show } from '../difference.ts'
import { type Bench, makeBench, makeLayer, plainSteps } from './bench.ts'
import { at, callScopes } from './inside.ts'
import type { LayerConformanceOptions } from './layer-conformance.ts'
import { completed, type Ran, runTurn } from './run.ts'

/** A call inside waits for a human. */
export const suspensionCases = {
  async 'lets a suspension through, and runs again on resume'(options: LayerConformanceOptions) {
    const bench = waiting(options)
    const session = bench.session()
    const resume = await suspended(bench, session)
    const seen = bench.calls.length
    const { text } = completed(await resume(), 'A call that waited was approved')
    checkEqual(bench.executed.length, 1, 'A call that was approved runs, once')
    for (const scope of callScopes) {
      if (bench.layer[scope] === undefined) continue
      const ranIn = (calls: Bench['calls']) => calls.some((call) => call.scope === scope)
      check(ranIn(bench.calls.slice(0, seen)), `The layer's ${scope} hook runs in the run that is suspended`)
      check(ranIn(bench.calls.slice(seen)), `The layer's ${scope} hook runs in the one that resumes it`)
    }
    const plain = makeBench(options, { steps: plainSteps })
    const whole = completed(await runTurn(plain, plain.session()), 'A plain run')
    checkEqual(text, whole.text, 'A turn that waited comes to what it comes to without')
  },

  async 'resumes in another process'(options: LayerConformanceOptions) {
    const first = waiting(options)
    const session = first.session()
    await suspended(first, session)
    const snapshot = JSON.parse(JSON.stringify(session.snapshot()))
    const second = waiting(options, plainSteps.slice(1))
    const later = second.session()
    await later.open()
    later.restore(snapshot)
    completed(await approve(second, later), 'A call that waited was approved in another process')
    checkEqual(second.executed.length, 1, 'A call that was approved runs, once')
  },

  async 'gives the model the refusal of a call that waited'(options: LayerConformanceOptions) {
    const bench = waiting(options)
    const session = bench.session()
    await suspended(bench, session)
    const callId = session.pending[0]?.callId ?? ''
    const ran = await runTurn(bench, session, (session) => session.resume({ [callId]: { deny: 'Not today.' } }))
    const { toolCalls } = completed(ran, 'A call that waited was refused')
    checkEqual(toolCalls[0]?.result.status, 'denied', 'A call that was refused is denied')
    checkEqual(bench.executed, [], 'A tool whose call was refused does not run')
  },
}

function waiting(options: LayerConformanceOptions, steps = plainSteps): Bench {
  const asks = at('tool', makeLayer(options), (ctx, next) =>
    ctx.approval === undefined ? ctx.suspend({ reason: 'planted' }) : next(),
  )
  return makeBench(options, { steps, inside: [asks] })
}

/** Runs until the call waits; gives what approves it. */
async function suspended(bench: Bench, session: Session): Promise<() => Promise<Ran>> {
  const { result, error } = await runTurn(bench, session)
  const seen = result === undefined ? `failed: ${show(error)}` : `ended ${result.status}`
  check(result?.status === 'suspended', `A suspension inside ends the run as suspended, but it ${seen}`)
  checkEqual(
    result.pending.map(({ name, request }) => ({ name, request })),
    [{ name: 'work', request: { reason: 'planted' } }],
    'The call waits',
  )
  return () => approve(bench, session)
}

function approve(bench: Bench, session: Session): Promise<Ran> {
  const callId = session.pending[0]?.callId ?? ''
  return runTurn(bench, session, (session) => session.resume({ [callId]: { approve: true } }))
}
