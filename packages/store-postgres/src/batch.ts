import { isAlliumError } from '@allium/core'

/** Most asks of one statement. */
const maxBatchSize = 100

interface QueuedItem<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Sends what is asked in one place, all or nothing; the answers stand in the order of the asks. */
export type SendBatch<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>

/**
 * What is asked in one place while a statement is under way there is sent with the next one, in order: where many ask at once
 * they share a commit, and nobody waits who asks alone.
 */
export function batchByKey<Item, Result>(send: SendBatch<Item, Result>): (key: string, item: Item) => Promise<Result> {
  const queues = new Map<string, QueuedItem<Item, Result>[]>()
  return (key, item) =>
    new Promise<Result>((resolve, reject) => {
      const entry = { item, resolve, reject }
      const queue = queues.get(key)
      if (queue !== undefined) queue.push(entry)
      else void drain(key, [entry])
    })

  async function drain(key: string, initial: QueuedItem<Item, Result>[]): Promise<void> {
    const queue = initial
    queues.set(key, queue)
    while (queue.length > 0) await flush(queue.splice(0, maxBatchSize))
    queues.delete(key)
  }

  async function flush(batch: readonly QueuedItem<Item, Result>[]): Promise<void> {
    try {
      const results = await send(batch.map(({ item }) => item))
      for (const [i, { resolve }] of batch.entries()) resolve(results[i] as Result)
    } catch (error) {
      // What is wrong with one is no fault of the others; a database that is gone is gone for all.
      const shouldIsolate = batch.length > 1 && !(isAlliumError(error) && error.code === 'store.unavailable')
      if (shouldIsolate) for (const entry of batch) await flush([entry])
      else for (const { reject } of batch) reject(error)
    }
  }
}
