import { setTimeout as sleep } from 'node:timers/promises'
import { isMarked, listProcesses, type Process } from './processes.ts'

/** The time between SIGTERM and SIGKILL, in milliseconds. */
const grace = 3_000
const poll = 10
const maxPollDelay = 200

/**
 * Ends a process and everything that it has started: its process group, its descendants, and, if the system exposes environments,
 * processes with its marker, even after `setsid`. It sends SIGTERM first, and SIGKILL to processes that still live after 3 s.
 */
export async function killTree(pid: number, marker: string): Promise<void> {
  const family = new Family(pid, marker)
  const end = performance.now() + grace
  await family.send('SIGTERM')
  for (let rest = poll; performance.now() < end; rest = Math.min(rest * 2, maxPollDelay)) {
    if ((await family.liveProcesses()).length === 0) return
    await sleep(Math.min(rest, end - performance.now()))
  }
  // A process that forks while it is killed is found in the next round.
  for (let round = 0; round < 20; round++) {
    if ((await family.send('SIGKILL')) === 0) return
    await sleep(poll)
  }
}

/** A process and its living descendants. Those seen once stay known when they get another parent. */
class Family {
  readonly #root: number
  readonly #marker: string
  /** By process id, the start time. */
  readonly #known = new Map<number, string>()

  constructor(root: number, marker: string) {
    this.#root = root
    this.#marker = marker
  }

  async liveProcesses(): Promise<Process[]> {
    const all = await listProcesses()
    const found = new Set(all.filter((one) => this.#isOurs(one)))
    for (let size = -1; size !== found.size; ) {
      size = found.size
      const pids = new Set([...found].map(({ pid }) => pid))
      for (const one of all) if (pids.has(one.ppid)) found.add(one)
    }
    for (const { pid, started } of found) this.#known.set(pid, started)
    return [...found]
  }

  /** Returns how many processes received the signal. */
  async send(signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
    const liveProcesses = await this.liveProcesses()
    // Signals the whole group at once, so that it cannot fork between two signals.
    if (liveProcesses.some(({ pgid }) => pgid === this.#root)) kill(-this.#root, signal)
    for (const { pid, pgid } of liveProcesses) if (pgid !== this.#root) kill(pid, signal)
    return liveProcesses.length
  }

  #isOurs(one: Process): boolean {
    return one.pgid === this.#root || this.#known.get(one.pid) === one.started || isMarked(one, this.#marker)
  }
}

/** Ignores errors, because the process may have ended or belong to another user. */
export function kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {}
}
