import type { Limits, RunReader, StoreReader } from '../host/host.ts'
import { type SseWriter, sse } from '../http/sse.ts'
import { existenceIn, type RecordedRun } from './recorded-run.ts'
import type { LoggedRecord, TraceLog } from './trace-log.ts'

/** Most records in one event of the feed. */
const batch = 200

interface FeedReader {
  isShown(record: LoggedRecord): boolean
  /** Aborts when the reader is gone, or when the process drains. */
  readonly closed: AbortSignal
}

/** Streams the records of a trace log. The id of each event is the epoch of the log and the position of the last record. */
export class Feed {
  readonly #host: StoreReader & RunReader & Limits
  readonly #log: TraceLog

  constructor(host: StoreReader & RunReader & Limits, log: TraceLog) {
    this.#host = host
    this.#log = log
  }

  /**
   * Streams the records that a reader may see, from after the last event that the reader received.
   *
   * @param lastEvent an event of an earlier process counts as none. @default all records in memory
   */
  follow(signal: AbortSignal, lastEvent = '', isShown: FeedReader['isShown']): Response {
    const { runs, clock, heartbeat } = this.#host
    const [epoch, seq] = lastEvent.split('.')
    const from = epoch === this.#log.epoch ? Number(seq) : 0
    const closed = new AbortController()
    const unsubscribe = runs.onClose(() => closed.abort())
    const onClose = () => {
      unsubscribe()
      closed.abort()
    }
    const options = { clock, heartbeat, signal, onClose }
    return sse((out) => this.#write(out, from, { isShown, closed: closed.signal }), options)
  }

  async #write(out: SseWriter, from: number, { isShown, closed }: FeedReader): Promise<void> {
    const exists = existenceIn(this.#host)
    let seq = from
    out.write([{ event: 'epoch', id: `${this.#log.epoch}.${seq}`, data: '[]' }])
    while (!out.closed) {
      const records = this.#log.after(seq, batch)
      const last = records.at(-1)
      if (last === undefined) {
        await out.flush()
        if (closed.aborted) return
        await this.#log.next(closed)
        continue
      }
      seq = last.seq
      const shown = await this.#existing(records.filter(isShown), exists)
      if (shown.length > 0) out.write([{ id: `${this.#log.epoch}.${seq}`, data: `[${shown.join(',')}]` }])
      if (out.isFull) await out.flush()
    }
  }

  /** Returns the records as JSON. Those of deleted runs are removed from the log. */
  async #existing(
    records: readonly LoggedRecord[],
    exists: (run: RecordedRun) => Promise<boolean>,
  ): Promise<readonly string[]> {
    const deleted = new Set<RecordedRun>()
    for (const run of new Set(records.map((record) => record.run))) if (!(await exists(run))) deleted.add(run)
    if (deleted.size > 0) this.#log.forget((run) => deleted.has(run))
    return Promise.all(records.filter(({ run }) => !deleted.has(run)).map(({ json }) => json))
  }
}
