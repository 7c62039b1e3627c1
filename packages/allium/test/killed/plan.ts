import { random } from '../../../core/test/explore/noise.ts'
import { type LayerKind, layerKinds } from './layers.ts'

/** A call that a model asks for. */
export interface PlannedCall {
  name: 'look' | 'work' | 'flaky' | 'child'
  arg: string
  /** Milliseconds that it takes. */
  takes: number
}

/** One turn with its layers, and where its process dies. */
export interface Plan {
  seed: number
  layers: readonly LayerKind[]
  inner: readonly LayerKind[]
  /** The calls of each answer, the last of which has none. */
  steps: readonly (readonly PlannedCall[])[]
  /** How often each thing fails for a passing reason before it works. */
  fails: number
  /** What caches find: empty ones of the process, one that processes share, that one filled by an earlier turn. */
  caches: 'own' | 'shared' | 'filled'
  /** The part of all steps after which the process dies. */
  diesAt: number
  /** Milliseconds until the next process takes the run up. */
  down: number
}

const names = ['look', 'look', 'work', 'flaky', 'child'] as const

/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const next = random(seed)
  const below = (n: number) => Math.floor(next() * n)
  const pick = <T>(items: readonly T[]) => items[below(items.length)] as T
  const some = <T>(least: number, most: number, make: (i: number) => T) =>
    Array.from({ length: least + below(most - least + 1) }, (_, i) => make(i))
  const layers = (share: number) =>
    layerKinds
      .filter(() => next() < share)
      .map((kind) => ({ kind, at: next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ kind }) => kind)
  const call = (step: number, i: number): PlannedCall => {
    const name = pick(names)
    // Equal look-ups share a flight; what has an effect is asked for once.
    return { name, arg: name === 'look' ? pick(['a', 'b']) : `${step}-${i}`, takes: below(4) * 10 }
  }
  const steps = some(1, 3, (step) => some(1, 4, (i) => call(step, i)))
  return {
    seed,
    layers: layers(0.35),
    inner: layers(0.15),
    steps,
    fails: below(3),
    caches: pick(['own', 'shared', 'filled']),
    diesAt: next(),
    down: pick([0, 100_000, 86_400_000]),
  }
}
