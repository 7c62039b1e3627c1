import { AbandonedError } from '../../src/errors/abort-error.ts'
import { cloneJson } from '../../src/messages/json.ts'
import { type Emit, isCancellation, type Journal } from '../../src/ports/journal.ts'

interface Entry {
  readonly items: unknown[]
  readonly outcome: { result: unknown } | { error: unknown }
}

/**
 * The journal of a test that is run again and again: the first time each step of its turns is recorded; the second time
 * each turn was killed after its first step and goes on from there, the third time after its second, and so on.
 *
 * A replayed step gives what was recorded, as copies. What it did to the world when it really ran (the script of the
 * model, a counter of the test) is done once more beside that, because the world of a test begins anew with it.
 */
export class World implements Journal {
  /** Steps that came to it, of all tests of the file. */
  steps = 0
  #recorded = new Map<string, Entry>()
  #turns = new Map<string, { name: string; steps: number }>()
  #killedAfter = 0

  /** The test begins: for the first time, or again with each turn killed after so many steps. */
  begin(killedAfter: number): void {
    if (killedAfter === 0) this.#recorded = new Map()
    this.#turns = new Map()
    this.#killedAfter = killedAfter
  }

  step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): T | PromiseLike<T> {
    const { key, nth } = this.#place(id)
    this.steps++
    if (this.#killedAfter === 0) return this.#record(key, work, emit)
    const known = nth <= this.#killedAfter ? this.#recorded.get(key) : undefined
    return known === undefined ? work(emit) : replay(known, work, emit)
  }

  /** Ids of turns are random: their places in the test stand for them. */
  #place(id: string): { key: string; nth: number } {
    const at = id.search(/:(model|tool|once):/)
    const turnId = id.slice(0, at)
    const turn = this.#turns.get(turnId) ?? { name: `turn ${this.#turns.size}`, steps: 0 }
    this.#turns.set(turnId, turn)
    turn.steps++
    return { key: turn.name + id.slice(at), nth: turn.steps }
  }

  async #record<T, C>(key: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> {
    const recorded = this.#recorded
    const items: unknown[] = []
    try {
      const result = await work((item) => {
        items.push(cloneJson(item))
        return emit(item)
      })
      recorded.set(key, { items, outcome: { result: copyOf(result) } })
      return result
    } catch (error) {
      if (!isCancellation(error)) recorded.set(key, { items, outcome: { error } })
      throw error
    }
  }
}

async function replay<T, C>(
  { items, outcome }: Entry,
  work: (emit: Emit<C>) => T | PromiseLike<T>,
  emit: Emit<C>,
): Promise<T> {
  const isLeft = 'error' in outcome && outcome.error instanceof AbandonedError
  const live = Promise.resolve(work(() => {})).then(
    (result) => ({ result }),
    (error) => ({ error }),
  )
  for (const item of items) await emit(cloneJson(item) as C)
  // What was left may never come to an end.
  if (isLeft) throw outcome.error
  const world = await live
  // Errors and values of tools keep their identity in one process alone: this world's stand for the recorded ones.
  if ('error' in outcome) throw 'error' in world ? world.error : outcome.error
  if (typeof outcome.result !== 'object' || outcome.result === null) return outcome.result as T
  const { value, error } = ('result' in world ? world.result : outcome.result) as { value?: unknown; error?: unknown }
  const result = copyOf(outcome.result) as object
  return { ...result, ...(value !== undefined && { value }), ...(error !== undefined && { error }) } as T
}

function copyOf(result: unknown): unknown {
  if (typeof result !== 'object' || result === null || !('content' in result)) return result
  return { ...result, content: cloneJson(result.content) }
}
