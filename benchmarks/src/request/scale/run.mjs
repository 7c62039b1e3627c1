import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { columns, short } from '../../table.mjs'
import { start } from '../process.mjs'
import { memoryOf } from './memory.mjs'
import { postgresReport } from './postgres-report.mjs'
import { twoServers } from './two-servers.mjs'

// `npm run bench -- request --postgres`. It runs with tsx, because the Postgres is that of the tests. The servers run without.

const [rounds, share] = process.argv.slice(2).map(Number)
const tell = (text) => process.stderr.isTTY && process.stderr.write(`\r\u001b[2K${text}`)
const folder = mkdtempSync(join(tmpdir(), 'scale-'))
const provider = await start('provider.mjs')
const url = `http://127.0.0.1:${provider.first}`
try {
  const found = await twoServers({ rounds, share, url, tell })
  const memory = await memoryOf({ url, folder, share, tell })
  console.log(found === undefined ? 'No Postgres found for this machine.' : postgresReport(found))
  console.log(`\n${memoryTable(memory)}`)
} finally {
  provider.kill()
  rmSync(folder, { recursive: true })
}
process.exit()

function memoryTable(found) {
  const rows = Object.entries(found).map(([name, { count, rss, live }]) => [
    `${count.toLocaleString('en')} ${name}`,
    ...[live, rss].map((bytes) => short(bytes / 1024)),
  ])
  return columns([['memory of each', 'live, KB', 'resident, KB'], ...rows])
}
