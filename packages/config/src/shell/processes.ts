import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'

/** One process of this machine. */
export interface Process {
  readonly pid: number
  readonly ppid: number
  /** Its process group. */
  readonly pgid: number
  /** Tells it from a later one with the same number, where the system says. */
  readonly started: string
  /** Whether it carries the mark in its environment; known on Linux alone. */
  readonly marked: boolean
}

/** The processes that live, zombies left out. `mark` is a piece of an environment, such as `NAME=value`. */
export function listProcesses(mark: string): Promise<Process[]> {
  return process.platform === 'linux' ? fromProc(mark) : fromPs()
}

async function fromProc(mark: string): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(pids.map((pid) => readProcess(pid, mark)))
  return found.filter((one) => one !== undefined)
}

async function readProcess(pid: string, mark: string): Promise<Process | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    // The name stands in parentheses and may hold any character: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, ppid, pgid] = fields
    if (state === 'Z' || state === 'X') return undefined
    const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
    return {
      pid: Number(pid),
      ppid: Number(ppid),
      pgid: Number(pgid),
      started: fields[19] ?? '',
      marked: `\0${environ}`.includes(`\0${mark}\0`),
    }
  } catch {
    return undefined // it has ended meanwhile
  }
}

function fromPs(): Promise<Process[]> {
  return new Promise((resolve) => {
    execFile('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat='], (error, stdout) => {
      const lines = error === null ? stdout.trim().split('\n') : []
      const rows = lines.map((line) => line.trim().split(/\s+/)).filter(([, , , stat = '']) => !stat.startsWith('Z'))
      resolve(
        rows.map(([pid, ppid, pgid]) => ({
          pid: Number(pid),
          ppid: Number(ppid),
          pgid: Number(pgid),
          started: '',
          marked: false,
        })),
      )
    })
  })
}
