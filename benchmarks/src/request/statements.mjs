import { serves } from './lab.mjs'

/** Counts the statements and commits of a request, on each side. */
export async function countRequests({ lab, names, only, tell }) {
  const counts = {}
  for (const name of names) {
    tell(`counting the statements of ${name}`)
    const server = await lab.start(name, `count-${name}`, { counting: true })
    counts[name] = {}
    for (const workload of only.filter((workload) => workload !== 'W4' && serves(name, workload))) {
      await lab.drive(server, `${workload}-warm`, { requests: 16, sessions: 16 })
      counts[name][workload] = await countOf(lab, server, workload)
    }
    await server.end()
  }
  return counts
}

/** One client after the other, so that the count does not depend on which writes share a commit. */
async function countOf(lab, server, workload) {
  const requests = 40
  const earlier = await server.ask('counts')
  await lab.drive(server, `${workload}-count`, { requests, sessions: 40, clients: 1 })
  const later = await server.ask('counts')
  return {
    statements: (later.statements - earlier.statements) / requests,
    commits: (later.commits - earlier.commits) / requests,
    syncs: (later.syncs - earlier.syncs) / requests,
  }
}
