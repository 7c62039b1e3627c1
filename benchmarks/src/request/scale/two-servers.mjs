import { ownServer } from '../../../../packages/store-postgres/test/server.ts'
import { start } from '../process.mjs'
import { earlier } from '../sides/index.mjs'
import { drive } from '../workloads.mjs'
import { postgresCpu } from './postgres-cpu.mjs'

const sessions = 2000
const workloads = { W1: 1000, W3: 500 }

/**
 * Measures two servers with all layers on one Postgres, with 2,000 sessions. Each server has half of the 16 clients, and the sessions
 * change servers from round to round. With `ALLIUM_BENCH_EARLIER`, two servers of the earlier version take turns with them, in a
 * schema of their own.
 *
 * @returns {Promise<{ workload: string, version: 'now' | 'earlier', samples: Sample[] }[] | undefined>} by round; undefined without a
 *   Postgres for this machine
 *
 * @typedef {{ perSecond: number, servers: number, postgres: number }} Sample requests per second, and milliseconds of CPU per request
 */
export async function twoServers({ rounds, share, url, tell }) {
  const postgres = await ownServer()
  if (postgres === undefined) return undefined
  const pairs = { now: await pairOf([postgres.url, url]) }
  if (earlier !== undefined) pairs.earlier = await pairOf([postgres.url, url, earlier])
  const found = Object.keys(workloads).flatMap((workload) =>
    Object.keys(pairs).map((version) => ({ workload, version, samples: [] })),
  )
  for (let round = 0; round <= rounds; round++)
    for (const { workload, version, samples } of found) {
      tell(`round ${round} of ${rounds}: ${workload} on Postgres, ${version}`)
      const sample = await sampleOf({ servers: pairs[version], workload, round, share })
      // The first round warms up.
      if (round > 0) samples.push(sample)
    }
  for (const server of Object.values(pairs).flat()) await server.end()
  await postgres.end()
  return found
}

async function pairOf(args) {
  const servers = []
  for (let i = 0; i < 2; i++) servers.push(await start('scale/server.mjs', ['postgres', ...args]))
  return servers
}

async function sampleOf({ servers, workload, round, share }) {
  const requests = 2 * Math.ceil((workloads[workload] * share) / 2)
  const [began, database, earlier] = [performance.now(), postgresCpu(), await cpuOf(servers)]
  await Promise.all(
    servers.map(({ first: port }, i) =>
      drive(port, `${workload}-${(i + round) % 2}`, { requests: requests / 2, sessions: sessions / 2, clients: 8 }),
    ),
  )
  return {
    perSecond: requests / ((performance.now() - began) / 1000),
    servers: ((await cpuOf(servers)) - earlier) / requests,
    postgres: (postgresCpu() - database) / requests,
  }
}

/** Milliseconds. */
async function cpuOf(servers) {
  const all = await Promise.all(servers.map(({ ask }) => ask('cpu')))
  return all.reduce((sum, { user, system }) => sum + (user + system) / 1000, 0)
}
