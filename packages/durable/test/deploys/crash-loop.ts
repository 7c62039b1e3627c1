import type { Lease } from '@allium/core'
import { manualClock } from '@allium/testing'
import fc from 'fast-check'
import type { Build } from './builds.ts'
import { type Place, principal, processOf, watchedRuns } from './process.ts'

const attempts = 3

/** A build whose processes are lost in the same step again and again, after so many recorded ones. */
export interface CrashLoop {
  readonly build: Build
  readonly dieAfter: number
}

/**
 * Starts a run again and again in processes that are lost before they record the next step of the turn. What they record about the takeover
 * itself is recorded. Returns the code of the run's end, and how often it was started.
 */
export async function crashed({ build, dieAfter }: CrashLoop, place: Place): Promise<{ code?: string; lives: number }> {
  let count = 0
  let run: string | undefined
  for (let lives = 1; lives <= 3 * attempts; lives++) {
    let lose = (_: Lease) => {}
    const lost = new Promise<Lease>((resolve) => (lose = resolve))
    const runs = watchedRuns(place.store.runs, (lease, { id }) => {
      if (id.includes(':takeover/') || ++count <= dieAfter) return undefined
      lose(lease)
      return new Promise(() => {})
    })
    const clock = manualClock()
    const life = processOf(place, '1', build, { onEffect() {}, runs, clock, lease: 600_000, attempts })
    run ??= (await life.start({ principal, sessionId: 'chat', input: 'Go.' })).run
    const ended = untilEnded()
    const lease = await Promise.race([lost, ended.promise])
    ended.stop()
    if (lease === undefined) return { ...(await life.get(run, { principal })), lives }
    await place.store.runs.renew([lease], 1)
    await place.pass(10)

    function untilEnded() {
      let isStopped = false
      const look = async (): Promise<undefined> => {
        while (!isStopped) {
          if (run !== undefined && !['queued', 'running'].includes((await life.get(run, { principal })).status)) return
          await life.recover()
          await place.soon()
        }
      }
      return { promise: look(), stop: () => (isStopped = true) }
    }
  }
  return { code: 'none', lives: 3 * attempts }
}

export const crashLoops = (builds: fc.Arbitrary<Build>): fc.Arbitrary<CrashLoop> =>
  fc.record({ build: builds, dieAfter: fc.integer({ min: 1, max: 14 }) })
