import { isAlliumError } from '@allium/core'

/** The maximum number of items in one statement. */
const maxBatchSize = 100

interface QueuedItem<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Sends a batch of items in one statement, all or nothing. The results are in the order of the items. */
export type SendBatch<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>

/**
 * Batches items by key. Items that arrive while a statement for their key is running are sent with the next one, in order. Concurrent
 * items share a commit, and a single item does not wait.
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
      // An error in one item does not affect the others, but an unavailable database affects all.
      const shouldIsolate = batch.length > 1 && !(isAlliumError(error) && error.code === 'store.unavailable')
      if (shouldIsolate) for (const entry of batch) await flush([entry])
      else for (const { reject } of batch) reject(error)
    }
  }
}
