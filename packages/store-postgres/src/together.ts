import { isAlliumError } from '@allium/core'

/** Most asks of one statement. */
const most = 100

interface Waiting<Ask, Answer> {
  readonly ask: Ask
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** Sends what is asked in one place, all or nothing; the answers stand in the order of the asks. */
export type Send<Ask, Answer> = (asks: readonly Ask[]) => Promise<readonly Answer[]>

/**
 * What is asked in one place while a statement is under way there is sent with the next one, in order: where many ask at once
 * they share a commit, and nobody waits who asks alone.
 */
export function together<Ask, Answer>(send: Send<Ask, Answer>): (place: string, ask: Ask) => Promise<Answer> {
  const places = new Map<string, Waiting<Ask, Answer>[]>()
  return (place, ask) =>
    new Promise<Answer>((resolve, reject) => {
      const one = { ask, resolve, reject }
      const waiting = places.get(place)
      if (waiting !== undefined) waiting.push(one)
      else void work(place, [one])
    })

  async function work(place: string, first: Waiting<Ask, Answer>[]): Promise<void> {
    const waiting = first
    places.set(place, waiting)
    while (waiting.length > 0) await sent(waiting.splice(0, most))
    places.delete(place)
  }

  async function sent(batch: readonly Waiting<Ask, Answer>[]): Promise<void> {
    try {
      const answers = await send(batch.map(({ ask }) => ask))
      for (const [i, { resolve }] of batch.entries()) resolve(answers[i] as Answer)
    } catch (error) {
      // What is wrong with one is no fault of the others; a database that is gone is gone for all.
      const isShared = batch.length > 1 && !(isAlliumError(error) && error.code === 'store.unavailable')
      if (isShared) for (const one of batch) await sent([one])
      else for (const { reject } of batch) reject(error)
    }
  }
}
