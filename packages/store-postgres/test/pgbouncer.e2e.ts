import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { eventLogConformance, ledgerConformance, scriptedModel, storeCases } from '@allium/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { freePort } from '../../../e2e/free-port.ts'
import { storesAt } from './schemas.ts'
import { ownServer } from './server.ts'

/** In transaction mode, with two connections to the server for all. Debian has it beside the paths of users. */
const command = ['pgbouncer', '/usr/sbin/pgbouncer'].find((name) => spawnSync(name, ['--version']).status === 0)
const server = command === undefined ? undefined : await ownServer()
const folder = mkdtempSync(join(tmpdir(), 'allium-pgbouncer-'))
const [url, bouncer] = await bounced()
const stores = storesAt(url)
afterAll(async () => {
  await stores.end()
  bouncer?.kill('SIGINT')
  if (bouncer !== undefined && bouncer.exitCode === null) await once(bouncer, 'exit')
  await server?.end()
  rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(bouncer === undefined)('postgres() behind PgBouncer in transaction mode', () => {
  it('runs twenty turns at once over two connections to the server', async () => {
    const store = stores.fresh()
    const model = scriptedModel(Array.from({ length: 20 }, () => 'Hello.'))
    const agent = new Agent({ model }).use(persist({ store: store.sessions }))
    await Promise.all(Array.from({ length: 20 }, (_, i) => agent.session({ id: `${i}` }).run('Hi')))
    const { items } = await store.sessions.list({ tenant: '', limit: 100 })
    expect(items.map(({ status }) => status)).toEqual(Array(20).fill('completed'))
  })

  it('makes the tables once, of many that start at once', async () => {
    const store = stores.fresh()
    const all = Array.from({ length: 5 }, () => stores.again(store))
    await Promise.all(all.map((one) => one.ready()))
    expect(await store.sessions.load({ tenant: '', owner: '', agent: 'agent', sessionId: 'none' })).toBe(undefined)
  })

  const cases = storeCases(() => stores.fresh().sessions, {
    reopen: (store) => stores.again(store).sessions,
    close: stores.close,
    lease: 1500,
    sleep: (ms) => sleep(ms),
  })
  for (const { name, run } of cases.filter(({ name }) => /race|at once|random|every kind/.test(name))) it(name, run)

  eventLogConformance({
    name: 'events',
    makeLog: ({ eventRetention }) => stores.fresh({ eventRetention }).events,
    reopen: (log) => stores.again(log).events,
    close: stores.close,
    eventRetention: 4000,
    sleep: (ms) => sleep(ms),
    describe,
    it,
  })

  ledgerConformance({
    name: 'ledger',
    makeLedger: () => stores.fresh().ledger,
    reopen: (ledger) => stores.again(ledger).ledger,
    close: stores.close,
    lease: 2000,
    sleep: (ms) => sleep(ms),
    describe,
    it,
  })
})

async function bounced(): Promise<[url: string, bouncer?: ChildProcess]> {
  if (command === undefined || server === undefined) return ['']
  const at = new URL(server.url)
  const port = await freePort()
  const ini = join(folder, 'pgbouncer.ini')
  const users = join(folder, 'users.txt')
  writeFileSync(users, '"postgres" "password"\n', { mode: 0o644 })
  writeFileSync(
    ini,
    `[databases]
postgres = host=${at.hostname} port=${at.port} dbname=postgres user=postgres password=password
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = transaction
default_pool_size = 2
max_client_conn = 500
`,
  )
  // It does not run as root.
  const user = process.getuid?.() === 0 ? ['--user', 'postgres'] : []
  if (user.length > 0) spawnSync('chmod', ['755', folder])
  const child = spawn(command, ['--quiet', ...user, ini], { stdio: 'ignore' })
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}.`)
    await sleep(20)
  }
  return [`postgres://postgres:password@127.0.0.1:${port}/postgres`, child]
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
