import { readFileSync, writeFileSync } from 'node:fs'
import type { Server as Redis } from '../../../store-redis/test/server.ts'
import type { Server } from '../server.ts'
import { badServers } from './bad-servers.ts'
import { billsIn } from './bills.ts'
import { problemsOf } from './check.ts'
import type { Children } from './children.ts'
import { Kills } from './kills.ts'
import { open, type Place } from './scene.ts'
import { foreignReads } from './tenants.ts'

export interface OnStore {
  readonly place: Place
  readonly count: number
  readonly seed: number
  readonly children: Children
  /** A Postgres of our own, which may be stopped. */
  readonly server: Required<Server> | undefined
  /** A Redis of our own, which may be flushed. */
  readonly redis: Redis | undefined
  /** Random operations of each of fifty tenants. */
  readonly operations: number
}

/** All of chaos on one store: kills, kills while servers go away, and tenants beside each other. */
export async function onStore({ place, count, seed, children, server, redis, operations }: OnStore) {
  writeFileSync(place.effects, '')
  writeFileSync(place.bills, '')
  const kills = new Kills()
  // Where the server may be stopped, it is for the second half.
  const quiet = server === undefined ? count : Math.ceil(count / 2)
  const from = seed * 1200
  const flushed = badServers(undefined, redis)
  await kills.run({ place, children, count: quiet, from })
  const servers = badServers(server, undefined)
  if (server !== undefined)
    await kills.run({ place, children, count: count - quiet, from: from + 600 + quiet, isRestarted: true })
  const { restarts } = await servers.end()
  const { flushes } = await flushed.end()
  await kills.takeOver(place)
  const store = open(place)
  const effects = readFileSync(place.effects, 'utf8').trim().split('\n')
  const { acknowledged, away } = kills
  const noted = { acknowledged, effects, bills: billsIn(place.bills), wasAway: restarts > 0, away }
  const problems = [...kills.problems, ...(await problemsOf(store, noted))]
  const reads = await foreignReads(store, { operations, seed })
  await store.close()
  return {
    kills: kills.kills,
    problems: [...problems, ...reads.problems],
    told: `${place.kind}: ${kills.kills} killed, ${noted.bills.length} model calls, Postgres stopped ${restarts} times (${kills.away.size} clients were told), Redis flushed ${flushes} times, ${reads.done} operations of 50 tenants`,
  }
}
