import { around } from '../onion/around.ts'
import type { Layer } from '../onion/compose.ts'
import type { WrappedStep } from '../ports/around.ts'
import type { Turn } from '../rings/turn/turn.ts'
import { storedTurn } from './stored-turn.ts'

/** Runs a step of the turn inside the session's wrappers. When it settles, the step has ended or never begins. */
export async function aroundStep<T>(turn: Turn, resumed: boolean, step: () => Promise<T>): Promise<T> {
  const { lifecycle, session, stepIndex: index } = turn
  const wrappers = session.registered.aroundStep
  if (wrappers === undefined) return step()
  const wrapped: WrappedStep = {
    index,
    resumed,
    get turn() {
      return storedTurn(turn, 'running')
    },
  }
  let running: Promise<T> | undefined
  const core = () => (running = step())
  // A step that runs ends by itself when the turn does, after its calls have unwound.
  const until = (work: Promise<unknown>) =>
    lifecycle.until(work).catch((reason) => (running === undefined ? Promise.reject(reason) : work))
  return around(wrappers as readonly Layer<WrappedStep, unknown>[], wrapped, core, { until }) as Promise<T>
}
