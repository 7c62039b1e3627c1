import { defineMiddleware, layerOptions, option, type TypedMiddleware } from '@allium/core'
import { aroundRun } from '@allium/core/context'
import type { Ledger } from '@allium/store'
import type { RecordOptions } from './record-options.ts'
import type { RecordingCounts } from './recording-counts.ts'
import { type RecordedSession, RunRecorder } from './run-recorder.ts'

export interface Recorder extends TypedMiddleware<{}> {
  /** Returns how many turns it recorded in this process, and why it did not record others. */
  counts(): RecordingCounts
  /**
   * Returns a ledger that is the same, and whose answers are recorded. For a layer with a ledger of its own. The ledger of the agent's
   * store is watched without this.
   */
  watch(ledger: Ledger): Ledger
}

const readOptions = layerOptions<RecordOptions>('replay:record', {
  store: option.object,
  sample: option.number({ from: 0, to: 1 }),
  maxBytes: option.whole(1),
  expiresIn: option.number({ above: 0 }),
  scrub: option.fn,
  skip: option.fn,
})

/**
 * Records each turn so that it can be replayed: its input before any layer changed it, every request as sent, raw chunks, tool results,
 * results of `ctx.once()` and the decisions of the layers, sub-agents included.
 *
 * Use it to find out what a changed agent would have done with the turns of last month. Register it inside `memory.persist`. It stores raw
 * texts, so next to a layer that redacts it needs a store with `encrypt`. A run does not wait for its recording, but the next run of the
 * session does, and the session when it closes. A recording that fails does not fail its run.
 *
 * @example
 * agent.use(memory.persist({ store })).use(record({ store: store.recordings, sample: 0.1 }))
 */
export function record(options: RecordOptions = {}): Recorder {
  const { as = 'replay:record', ...given } = readOptions(options)
  const recorder = new RunRecorder(given)
  const { sample, maxBytes, expiresIn } = recorder
  const layer = defineMiddleware({
    name: as,
    inherit: true,
    options: { sample, maxBytes, expiresIn },
    order: { is: given.store?.sealed === true ? ['records'] : ['records', 'recordsRaw'], inside: ['sessionStorage'] },
    async session(ctx, next) {
      recorder.watchStore(ctx)
      // Later it is that of the last run.
      const session: RecordedSession = { ctx, clock: ctx.clock }
      aroundRun(ctx, (run, proceed) => recorder.around(session, run, proceed))
      try {
        await next()
      } finally {
        await session.storing
      }
    },
    turn(ctx, next) {
      recorder.watchTurn(ctx)
      return next()
    },
    wrapHooks: (hook) => recorder.wrapHooks(hook),
  })
  return Object.assign(layer, { counts: () => recorder.counts, watch: (ledger: Ledger) => recorder.watch(ledger) })
}
