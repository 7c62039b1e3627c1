import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../src/index.ts'
import { migrations } from '../src/migrations.ts'

const versions = migrations.map((_, i) => i + 1)

it.each(versions)('a file of the schema %i is brought to that of today, with the money that it holds', (version) => {
  const folder = mkdtempSync(join(tmpdir(), 'allium-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'old.db')
  const old = new Libsql(path)
  for (const step of migrations.slice(0, version)) old.exec(step)
  old.exec(`insert into accounts (name, spent, reserved) values ('acme', 2, 3);
    insert into holds (account, id, amount, at) values ('acme', 'a', 3, 1);
    pragma user_version = ${version};`)
  old.close()
  const { ledger, close } = sqlite(path)
  expect(ledger.balance('acme')).toEqual({ spent: 2, reserved: 3 })
  ledger.settle({ id: 'a', account: 'acme', amount: 3 }, 1)
  ledger.reserve({ id: 'b', account: 'acme', amount: 1, limit: 4, ttl: 1000, run: 'r' })
  expect([ledger.balance('acme'), ledger.holds?.('r')]).toEqual([
    { spent: 3, reserved: 1 },
    [{ id: 'b', account: 'acme', amount: 1 }],
  ])
  close()
})
