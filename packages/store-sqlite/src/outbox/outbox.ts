import type { Outbox, OutboxRecord } from '@allium/store'
import { type Blobs, checkName, maxPostponement, month, type OutboxOptions, openRecords } from '@allium/store-sql'
import type { Database, Row } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { OutboxClock } from './outbox-clock.ts'

/** The records of turns. */
export class SqliteOutbox implements Outbox {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #ageClock: OutboxClock
  readonly #blobs: Blobs
  readonly #options: OutboxOptions

  constructor(db: Database, clock: SharedClock, blobs: Blobs, options: OutboxOptions) {
    this.#db = db
    this.#clock = clock
    this.#ageClock = new OutboxClock(db, clock)
    this.#blobs = blobs
    this.#options = options
  }

  async claim(consumer: string, limit: number, ms: number): Promise<OutboxRecord[]> {
    checkName('consumer', consumer)
    const rows = await this.#db.writeInGroup(() => this.#takeRows(consumer, limit, ms))
    return openRecords(rows, this.#blobs, (ids) => this.#postpone(consumer, ids, ms))
  }

  async done(consumer: string, ids: readonly string[]): Promise<void> {
    checkName('consumer', consumer)
    for (const id of ids) checkName('id of a record', id)
    const { consumers = [] } = this.#options
    await this.#db.writeInGroup(() => {
      for (const id of ids) {
        const seq = this.#db.get('select seq from outbox where id = ?', id)?.seq
        if (seq === undefined) continue
        this.#hold(consumer, Number(seq), 0, 1)
        const done = this.#db
          .all('select consumer from outbox_deliveries where seq = ? and done = 1', Number(seq))
          .map((row) => row.consumer)
        if (consumers.length > 0 && consumers.every((name) => done.includes(name)))
          this.#deleteWhere('seq = ?', Number(seq))
      }
    })
  }

  #takeRows(consumer: string, limit: number, ms: number): Row[] {
    const { recordRetention = month } = this.#options
    this.#deleteWhere('since < ?', this.#ageClock.tick() - recordRetention)
    const retried = this.#retryable(consumer, limit)
    const rows = [...retried, ...this.#unseen(consumer, limit - retried.length)]
    for (const { seq } of rows) this.#hold(consumer, Number(seq), this.#clock.monotonic() + ms, 0)
    return rows
  }

  /** Returns records that the consumer claimed earlier and did not complete in time. */
  #retryable(consumer: string, limit: number): Row[] {
    return this.#db.all(
      `select o.* from outbox_deliveries p indexed by outbox_deliveries_open join outbox o on o.seq = p.seq
       where p.consumer = ? and p.done = 0 and (p.held_until <= ? or p.boot <> ?) order by p.seq limit ?`,
      ...[consumer, this.#clock.monotonic(), this.#clock.boot, limit],
    )
  }

  /** Returns records after the cursor and moves it to the last of them. Writers are serialized, so no record appears before the cursor. */
  #unseen(consumer: string, limit: number): Row[] {
    if (limit <= 0) return []
    const seen = Number(this.#db.get('select seen from outbox_cursors where consumer = ?', consumer)?.seen ?? 0)
    const rows = this.#db.all(
      `select o.* from outbox o where o.seq > ?
       and not exists (select 1 from outbox_deliveries p where p.consumer = ? and p.seq = o.seq) order by o.seq limit ?`,
      ...[seen, consumer, limit],
    )
    const last = rows.length < limit ? this.#db.get('select max(seq) as seq from outbox') : rows.at(-1)
    const next = Math.max(seen, Number(last?.seq ?? 0))
    if (next > seen) this.#db.run('insert or replace into outbox_cursors values (?, ?)', consumer, next)
    return rows
  }

  async #postpone(consumer: string, ids: readonly string[], ms: number): Promise<void> {
    await this.#db.writeInGroup(() => {
      for (const id of ids) {
        const row = this.#db.get('select seq, since from outbox where id = ?', id)
        if (row === undefined) continue
        const wait = Math.max(ms, Math.min((this.#ageClock.now() - Number(row.since)) / 2, maxPostponement))
        this.#hold(consumer, Number(row.seq), this.#clock.monotonic() + wait, 0)
      }
    })
  }

  #hold(consumer: string, seq: number, heldUntil: number, done: number): void {
    this.#db.run(
      'insert or replace into outbox_deliveries values (?, ?, ?, ?, ?)',
      consumer,
      seq,
      heldUntil,
      this.#clock.boot,
      done,
    )
  }

  #deleteWhere(condition: string, value: number): void {
    this.#db.run(`delete from outbox_deliveries where seq in (select seq from outbox where ${condition})`, value)
    this.#db.run(`delete from outbox where ${condition}`, value)
  }
}
