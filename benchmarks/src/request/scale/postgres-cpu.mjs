import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second on Linux. */
const ticks = 100

/** The CPU time in milliseconds of all processes of the Postgres that a process, this one by default, has started. On Linux only. */
export function postgresCpu(starter = process.pid) {
  const all = stats()
  const postmaster = all.find(({ parent, name }) => parent === starter && name === 'postgres')
  const children = all.filter(({ parent }) => parent === postmaster.pid)
  // The time of processes that have ended is in that of their parent.
  return (1000 / ticks) * children.reduce((sum, { own }) => sum + own, postmaster.own + postmaster.ended)
}

function stats() {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []))
}

/** Undefined for a process that has ended. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program may contain spaces and brackets.
    const end = text.lastIndexOf(')')
    const name = text.slice(text.indexOf('(') + 1, end)
    const fields = text.slice(end + 2).split(' ')
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number)
    return { pid, name, parent: Number(fields[1]), own: user + system, ended: endedUser + endedSystem }
  } catch {
    return undefined
  }
}
