import type { RunCount } from '@allium/store'
import type { QueueOptions } from '../host/queues.ts'

/** The runs of a queue that have not ended. */
export interface OperatedQueue {
  readonly queue: string
  readonly queued: number
  readonly running: number
  readonly lost: number
  /** How long the oldest queued run has been due, in milliseconds. */
  readonly oldestAge: number
  /** The limits in the option `queues` of `operations()`; undefined without that option, or if the queue is not declared there. */
  readonly limits?: QueueOptions
}

export function queuesOf(
  counts: readonly RunCount[],
  declared: Readonly<Record<string, QueueOptions>>,
  now: number,
): OperatedQueue[] {
  const names = new Set([...Object.keys(declared), ...counts.map(({ queue }) => queue)])
  return [...names].toSorted().map((queue) => {
    const limits = Object.hasOwn(declared, queue) ? declared[queue] : undefined
    const own = counts.filter((count) => count.queue === queue)
    const runsWith = (status: string) =>
      own.reduce((sum, count) => sum + (count.status === status ? count.count : 0), 0)
    const ages = own.filter(({ status }) => status === 'queued').map(({ oldest }) => now - oldest)
    return {
      queue,
      queued: runsWith('queued'),
      running: runsWith('running'),
      lost: runsWith('lost'),
      oldestAge: Math.max(0, ...ages),
      ...(limits !== undefined && { limits }),
    }
  })
}
