import { setTimeout as sleep } from 'node:timers/promises'
import { isMarked, listProcesses, type Process } from './processes.ts'

/** Milliseconds between SIGTERM and SIGKILL. */
const grace = 3_000
const poll = 10
const longestPoll = 200

/**
 * Ends a process and all that it has started: its group, what descends from it, and, where the system tells environments,
 * whatever carries its mark, even after `setsid`. First SIGTERM; SIGKILL for what still lives after 3 s.
 */
export async function killTree(pid: number, mark: string): Promise<void> {
  const family = new Family(pid, mark)
  const end = performance.now() + grace
  await family.send('SIGTERM')
  for (let rest = poll; performance.now() < end; rest = Math.min(rest * 2, longestPoll)) {
    if ((await family.living()).length === 0) return
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
  readonly #mark: string
  /** By number, when it started. */
  readonly #known = new Map<number, string>()

  constructor(root: number, mark: string) {
    this.#root = root
    this.#mark = mark
  }

  async living(): Promise<Process[]> {
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
    const living = await this.living()
    // The group at once, so that it cannot fork between two signals.
    if (living.some(({ pgid }) => pgid === this.#root)) kill(-this.#root, signal)
    for (const { pid, pgid } of living) if (pgid !== this.#root) kill(pid, signal)
    return living.length
  }

  #isOurs(one: Process): boolean {
    return one.pgid === this.#root || this.#known.get(one.pid) === one.started || isMarked(one, this.#mark)
  }
}

/** It may have ended meanwhile, or belong to somebody else. */
export function kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {}
}
