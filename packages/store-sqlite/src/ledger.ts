import type { Ledger } from '@allium/core'
import { checkAmount } from '@allium/store-sql'
import type { Database } from './database.ts'
import type { SharedClock } from './sqlite-clock.ts'

/** Money in a SQLite file: each post is one transaction. */
export function sqliteLedger(db: Database, clock: SharedClock): Ledger {
  return {
    reserve({ id, account, amount, limit }) {
      checkAmount(amount)
      return db.write(() => {
        const known = db.get('select amount from holds where account = ? and id = ?', account, id)
        if (known !== undefined) return { id, account, amount: Number(known.amount) }
        const { spent = 0, reserved = 0 } = db.get('select spent, reserved from accounts where name = ?', account) ?? {}
        if (Number(spent) + Number(reserved) + amount > limit) return undefined
        db.run('insert into holds (account, id, amount, at) values (?, ?, ?, ?)', account, id, amount, clock.now())
        db.run(
          `insert into accounts (name, reserved) values (?, ?)
           on conflict do update set reserved = reserved + excluded.reserved`,
          ...[account, amount],
        )
        return { id, account, amount }
      })
    },
    settle({ id, account }, spent) {
      checkAmount(spent)
      db.write(() => {
        const held = db.get(
          'update holds set settled = 1 where account = ? and id = ? and settled = 0 returning amount',
          ...[account, id],
        )
        if (held === undefined) return
        const sql = 'update accounts set spent = spent + ?, reserved = max(0, reserved - ?) where name = ?'
        db.run(sql, spent, Number(held.amount), account)
      })
    },
    balance(account) {
      const { spent = 0, reserved = 0 } = db.get('select spent, reserved from accounts where name = ?', account) ?? {}
      return { spent: Number(spent), reserved: Number(reserved) }
    },
  }
}
