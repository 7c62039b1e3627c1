import { statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import Libsql from 'libsql'
import { median } from '../timed.mjs'
import { history } from './client.mjs'
import { serves } from './lab.mjs'
import { workloads } from './workloads.mjs'

/** Measures the workloads. In each round every side takes its turn, so that other load on the machine affects all. */
export async function interleaved({ lab, names, only, rounds, tell }) {
  const servers = {}
  for (const name of names) {
    servers[name] = await lab.start(name, name)
    tell(`warming up ${name}`)
    for (const workload of only.filter((workload) => serves(name, workload)))
      await lab.drive(servers[name], `${workload}-warm`, warmUpOf(workload))
  }
  const samples = []
  for (let round = 0; round < rounds; round++)
    for (const workload of only) {
      const texts = {}
      for (const name of names.filter((name) => serves(name, workload))) {
        tell(`round ${round + 1} of ${rounds}: ${workload} ${name}`)
        const prefix = prefixOf(workload, round)
        const sample = await sampleOf(lab, servers[name], prefix, workloads[workload], round)
        samples.push({ name, workload, ...sample, rss: await servers[name].ask('rss') })
        texts[name] = await checked(servers[name], prefix, sample, name)
      }
      compare(workload, texts)
    }
  const disk = {}
  for (const name of names) {
    await servers[name].end()
    disk[name] = bytesOf(lab.fileOf(name)) / turnsOf(name, only, rounds)
  }
  return { samples, disk }
}

/** The size of a database that no process has open, without a log that its driver left behind. */
function bytesOf(file) {
  const db = new Libsql(file)
  db.pragma('wal_checkpoint(truncate)')
  db.close()
  return statSync(file).size
}

/** Each round has new sessions, except where these need many turns before the measurement. */
const prefixOf = (workload, round) => `${workload}-${workloads[workload].before > 0 ? 0 : round}`

/** Enough requests for the compiler. */
const warmUpOf = (workload) => ({ requests: workload === 'W1' ? 400 : 100, sessions: 200 })

async function sampleOf(lab, server, prefix, { requests, sessions, before }, round) {
  if (before > 0 && round === 0) await lab.drive(server, prefix, { requests: before * sessions, sessions })
  const earlier = await server.ask('cpu')
  const answers = await lab.drive(server, prefix, { requests, sessions })
  const later = await server.ask('cpu')
  const cpu = (later.user + later.system - earlier.user - earlier.system) / 1000 / requests
  return { cpu, answers, bytes: median(answers.map(({ bytes }) => bytes)) }
}

/** The answers, and the stored history of some sessions. */
async function checked({ first: port }, prefix, { answers }, name) {
  const texts = answers.map(({ text }) => text)
  if (name === 'bare') return { texts }
  const sessions = [0, 7, 15].filter((n) => n < answers.length)
  const histories = await Promise.all(sessions.map((n) => history(port, `${prefix}-${n}`)))
  return { texts, histories }
}

function compare(workload, found) {
  const { hand: expected, ...others } = found
  if (expected === undefined) return
  for (const [name, { texts, histories }] of Object.entries(others)) {
    if (!isDeepStrictEqual(texts, expected.texts)) throw new Error(`${workload}: the answers of "${name}" differ.`)
    if (histories !== undefined && !isDeepStrictEqual(histories, expected.histories))
      throw new Error(
        `${workload}: the histories of "${name}" differ:\n${JSON.stringify(histories[0])}\n${JSON.stringify(expected.histories[0])}`,
      )
  }
}

function turnsOf(name, only, rounds) {
  const of = ({ requests, sessions, before }) => rounds * requests + before * sessions
  return only
    .filter((workload) => serves(name, workload))
    .reduce((sum, one) => sum + warmUpOf(one).requests + of(workloads[one]), 0)
}
