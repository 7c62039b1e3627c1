import { median } from '../timed.mjs'

/** Measures the CPU of a process of each side from its start to its first answer, in milliseconds. */
export async function coldStarts({ lab, names, rounds, tell }) {
  const found = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < Math.min(rounds, 3); round++)
    for (const name of names) {
      tell(`cold start of ${name}`)
      const server = await lab.start(name, `cold-${name}-${round}`)
      await lab.drive(server, 'W1-cold', { requests: 1, sessions: 1, clients: 1 })
      const { user, system } = await server.ask('cpu')
      found[name].push((user + system) / 1000)
      await server.end()
    }
  return Object.fromEntries(names.map((name) => [name, median(found[name])]))
}
