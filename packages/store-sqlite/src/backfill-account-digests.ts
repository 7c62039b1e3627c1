import type { Database, Row, Value } from './database.ts'
import type { ErasureLog } from './erasure-log.ts'

/** Moves accounts and holds of earlier schemas to their digests, which SQL alone cannot compute. */
export function backfillAccountDigests(db: Database, erasures: ErasureLog): void {
  const digest = (text: unknown) => erasures.digest(String(text))
  for (;;) {
    const accounts = db.all('select name from accounts where digested = 0 limit 500')
    if (accounts.length === 0) return
    db.write(() => {
      for (const { name } of accounts) {
        for (const hold of db.all('select * from holds where account = ?', name as Value))
          backfillHoldDigest(db, digest, hold)
        db.run('update accounts set name = ?, digested = 1 where name = ?', digest(name), name as Value)
      }
    })
  }
}

function backfillHoldDigest(db: Database, digest: (text: unknown) => string, { account, id, run, settled }: Row): void {
  const isOpenHold = run !== null && settled === 0
  const [tenant, owner] = isOpenHold ? ownerOfRun(String(run)) : [null, null]
  db.run(
    'update holds set account = ?, id = ?, run = ?, place = ?, tenant = ?, owner = ? where account = ? and id = ?',
    ...[
      digest(account),
      digest(id),
      isOpenHold ? digest(run) : null,
      isOpenHold ? JSON.stringify([account, id]) : null,
    ],
    ...[tenant, owner, account as Value, id as Value],
  )
}

/** Budgets name a run by layer, session and turn: `["guard:budget","[\"acme\",\"ann\",\"chat\"]","chat:1"]`. */
function ownerOfRun(run: string): [tenant: string | null, owner: string | null] {
  try {
    const [, session] = JSON.parse(run) as [unknown, string]
    const [tenant, owner] = JSON.parse(session) as [string, string]
    return typeof tenant === 'string' && typeof owner === 'string' ? [tenant, owner] : [null, null]
  } catch {
    return [null, null]
  }
}
