import type { Outbox, OutboxRecord } from '@allium/core'
import { month, type OutboxOptions, openedRecords, type Sealer } from '@allium/store-sql'
import type { Database } from './database.ts'
import type { SharedClock } from './sqlite-clock.ts'

/** What turns have recorded. */
export class SqliteOutbox implements Outbox {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #sealer: Sealer
  readonly #options: OutboxOptions

  constructor(db: Database, clock: SharedClock, sealer: Sealer, options: OutboxOptions) {
    this.#db = db
    this.#clock = clock
    this.#sealer = sealer
    this.#options = options
  }

  async take(consumer: string, limit: number, ms: number): Promise<OutboxRecord[]> {
    const rows = await this.#db.writeTogether(() => this.#taken(consumer, limit, ms))
    return openedRecords(rows, this.#sealer, (id) => this.done(consumer, [id]))
  }

  async done(consumer: string, ids: readonly string[]): Promise<void> {
    const { consumers = [] } = this.#options
    await this.#db.writeTogether(() => {
      for (const id of ids) {
        const seq = this.#db.get('select seq from outbox where id = ?', id)?.seq
        if (seq === undefined) continue
        this.#hold(consumer, Number(seq), 0, 1)
        const done = this.#db
          .all('select consumer from outbox_places where seq = ? and done = 1', Number(seq))
          .map((row) => row.consumer)
        if (consumers.length > 0 && consumers.every((one) => done.includes(one))) this.#drop('seq = ?', Number(seq))
      }
    })
  }

  #taken(consumer: string, limit: number, ms: number) {
    const { keepRecords = month } = this.#options
    const now = this.#clock.monotonic()
    this.#drop('added_at < ?', this.#clock.now() - keepRecords)
    const rows = this.#db.all(
      `select o.* from outbox o left join outbox_places p on p.seq = o.seq and p.consumer = ?
       where p.seq is null or (p.done = 0 and (p.held_until <= ? or p.boot <> ?)) order by o.seq limit ?`,
      ...[consumer, now, this.#clock.boot, limit],
    )
    for (const { seq } of rows) this.#hold(consumer, Number(seq), now + ms, 0)
    return rows
  }

  #hold(consumer: string, seq: number, until: number, done: number): void {
    this.#db.run(
      'insert or replace into outbox_places values (?, ?, ?, ?, ?)',
      consumer,
      seq,
      until,
      this.#clock.boot,
      done,
    )
  }

  #drop(which: string, value: number): void {
    this.#db.run(`delete from outbox_places where seq in (select seq from outbox where ${which})`, value)
    this.#db.run(`delete from outbox where ${which}`, value)
  }
}
