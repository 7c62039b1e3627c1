import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { columns, short } from '../../table.mjs'
import { start } from '../process.mjs'
import { memoryOf } from './memory.mjs'
import { twoServers } from './two-servers.mjs'

// `npm run bench -- request --postgres`. It runs with tsx, because the Postgres is that of the tests. The servers run without.

const rounds = Number(process.argv[2] ?? 5)
const tell = (text) => process.stderr.isTTY && process.stderr.write(`\r\u001b[2K${text}`)
const folder = mkdtempSync(join(tmpdir(), 'scale-'))
const provider = await start('provider.mjs')
const url = `http://127.0.0.1:${provider.first}`
try {
  const rows = await twoServers({ rounds, url, tell })
  const memory = await memoryOf({ url, folder, tell })
  console.log(rows === undefined ? 'No Postgres found for this machine.' : postgresTable(rows))
  console.log(`\n${memoryTable(memory)}`)
} finally {
  provider.kill()
  rmSync(folder, { recursive: true })
}
process.exit()

function postgresTable(rows) {
  const heads = ['two servers, 2,000 sessions', 'ms of CPU, servers', 'ms of CPU, Postgres', 'requests per second']
  return columns([
    heads,
    ...rows.map(({ workload, servers, postgres, perSecond }) => [
      workload,
      ...[servers, postgres, perSecond].map(short),
    ]),
  ])
}

function memoryTable(found) {
  const rows = Object.entries(found).map(([name, { count, rss, live }]) => [
    `${count.toLocaleString('en')} ${name}`,
    ...[live, rss].map((bytes) => short(bytes / 1024)),
  ])
  return columns([['memory of each', 'live, KB', 'resident, KB'], ...rows])
}
