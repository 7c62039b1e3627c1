import { setTimeout as sleep } from 'node:timers/promises'
import { isMarked, listProcesses, type Process } from './processes.ts'

/** Milliseconds between SIGTERM and SIGKILL. */
const grace = 3_000
const poll = 10
const maxPollDelay = 200

/**
 * Ends a process and all that it has started: its group, what descends from it, and, where the system tells environments,
 * whatever carries its mark, even after `setsid`. First SIGTERM; SIGKILL for what still lives after 3 s.
 */
export async function killTree(pid: number, marker: string): Promise<void> {
  const family = new Family(pid, marker)
  const end = performance.now() + grace
  await family.send('SIGTERM')
  for (let rest = poll; performance.now() < end; rest = Math.min(rest * 2, maxPollDelay)) {
    if ((await family.liveProcesses()).length === 0) return
    await sleep(Math.min(rest, end - performance.now()))
  }
  // What forks while it is killed is found in the next round.
  for (let round = 0; round < 20; round++) {
    if ((await family.send('SIGKILL')) === 0) return
    await sleep(poll)
  }
}

/** A process and its descendants, as long as they live; those that were seen once stay known when they move to another parent. */
class Family {
  readonly #root: number
  readonly #marker: string
  /** By number, when it started. */
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

  /** Tells how many got it. */
  async send(signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
    const liveProcesses = await this.liveProcesses()
    // The group at once, so that it cannot fork between two signals.
    if (liveProcesses.some(({ pgid }) => pgid === this.#root)) kill(-this.#root, signal)
    for (const { pid, pgid } of liveProcesses) if (pgid !== this.#root) kill(pid, signal)
    return liveProcesses.length
  }

  #isOurs(one: Process): boolean {
    return one.pgid === this.#root || this.#known.get(one.pid) === one.started || isMarked(one, this.#marker)
  }
}

/** It may have ended meanwhile, or belong to somebody else. */
export function kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {}
}
