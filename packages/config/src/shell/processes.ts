import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** One process of this machine. */
export interface Process {
  readonly pid: number
  readonly ppid: number
  /** Its process group id. */
  readonly pgid: number
  /** Distinguishes it from a later process with the same id, if the system provides it. */
  readonly started: string
  /** Its environment; available only on Linux. */
  readonly environ: string
}

let running: Promise<Process[]> | undefined
let following: Promise<Process[]> | undefined

/**
 * Returns the living processes without zombies. Concurrent callers share one reading, because each reading opens two files per process. A
 * caller during a reading gets the next one, because its process may have started meanwhile.
 */
export function listProcesses(): Promise<Process[]> {
  if (running === undefined) return begin()
  following ??= running.then(begin, begin)
  return following
}

function begin(): Promise<Process[]> {
  following = undefined
  const reading = process.platform === 'linux' ? fromProc() : fromPs()
  running = reading
  const over = () => {
    if (running === reading) running = undefined
  }
  reading.then(over, over)
  return reading
}

/** @param marker a variable with its value, such as `NAME=value` */
export function isMarked({ environ }: Pick<Process, 'environ'>, marker: string): boolean {
  return `\0${environ}`.includes(`\0${marker}\0`)
}

async function fromProc(): Promise<Process[]> {
  const found = await Promise.all((await readdir('/proc')).filter(isPid).map(readProcess))
  return found.filter((one) => one !== undefined)
}

async function readProcess(pid: string): Promise<Process | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    // The name is in parentheses and may contain any character: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, ppid, pgid] = fields
    if (state === 'Z' || state === 'X') return undefined
    const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
    return { pid: Number(pid), ppid: Number(ppid), pgid: Number(pgid), started: fields[19] ?? '', environ }
  } catch {
    return undefined // it has ended meanwhile
  }
}

/** Finds the processes with one of the markers synchronously, for a process that is exiting. */
export function findMarked(markers: readonly string[]): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter(isPid)
    .map(Number)
    .filter((pid) => {
      const environ = environNow(pid)
      return markers.some((marker) => isMarked({ environ }, marker))
    })
}

function environNow(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

function isPid(name: string): boolean {
  return /^\d+$/.test(name)
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
          environ: '',
        })),
      )
    })
  })
}
