import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Children } from '../../../store-postgres/test/chaos/children.ts'
import { isStopped } from '../../../store-postgres/test/chaos/kills.ts'
import type { StartOptions } from '../../src/index.ts'
import type { Job, Place } from './scene.ts'

/** Milliseconds after which somebody else is asked. */
const patience = 4000
/** Up to so many places are passed before a process is stopped: those of about six turns. */
const places = 1500
/** As many places at the ends of turns. */
const endPlaces = 12

/** Processes that share the runs of a store: one that was killed is replaced by another. */
export class Crew {
  readonly problems: string[] = []
  kills = 0
  stops = 0
  readonly #children: Children
  readonly #place: Place
  readonly #random: () => number
  readonly #begun: (child: ChildProcess) => void
  readonly #live = new Set<ChildProcess>()
  readonly #lives: Promise<void>[] = []
  #left = 0
  #asked = 0
  #over = false

  constructor(children: Children, place: Place, random: () => number, begun: (child: ChildProcess) => void) {
    this.#children = children
    this.#place = place
    this.#random = random
    this.#begun = begun
  }

  /** For whoever wonders why it does not end. */
  standing(): string {
    const live = [...this.#live].map((child) => `${child.pid}${isStopped(child.pid) ? ' stopped' : ''}`)
    return `${this.kills} killed, ${this.#left} left, ${this.#over ? 'ending, ' : ''}processes ${live.join(', ') || 'none'}`
  }

  begin(size: number): void {
    for (let i = 0; i < size; i++) this.#lives.push(this.#lane())
  }

  /** From now on so many are killed, of those that begin. */
  murder(count: number): void {
    this.#left += count
  }

  /** Asks some process to start a run, and another one where it has died meanwhile; gives the run. */
  async start(options: StartOptions): Promise<string> {
    for (;;) {
      const said = await this.#ask(options)
      if (said?.run !== undefined) return said.run
      if (said?.failed !== undefined && !/store\.(unavailable|fenced)/.test(said.failed)) throw new Error(said.failed)
      await sleep(20)
    }
  }

  /** All of them end. */
  async end(): Promise<void> {
    this.#over = true
    for (const child of this.#live) child.send({ end: true }, () => {})
    await Promise.all(this.#lives)
  }

  async #ask(start: StartOptions): Promise<{ run?: string; failed?: string } | undefined> {
    const all = [...this.#live]
    const child = all[Math.floor(this.#random() * all.length)]
    if (child === undefined) return undefined
    const id = ++this.#asked
    const over = new AbortController()
    const { signal } = over
    const answered = new Promise<{ run?: string; failed?: string }>((resolve) => {
      const hear = (said: { id?: number; run?: string; failed?: string }) => said.id === id && resolve(said)
      child.on('message', hear)
      signal.addEventListener('abort', () => child.off('message', hear))
    })
    child.send({ id, start }, () => {})
    const gone = Promise.race([once(child, 'close', { signal }), sleep(patience, undefined, { signal })])
    const said = await Promise.race([answered, gone.then(() => undefined).catch(() => undefined)])
    over.abort()
    return said
  }

  /** One process after the other. */
  async #lane(): Promise<void> {
    while (!this.#over) {
      const isLast = this.#left <= 0
      const isStop = !isLast && this.#random() < 0.1
      if (!isLast && !isStop) this.#left--
      const atEnd = !isLast && !isStop && this.#random() < 0.25
      const stopAt = isLast ? undefined : 1 + Math.floor(this.#random() * (atEnd ? endPlaces : places))
      await this.#life({ ...this.#place, stopAt, atEnd, signal: isStop ? 'SIGSTOP' : 'SIGKILL' })
    }
  }

  async #life(job: Job): Promise<void> {
    const child = await this.#children.take(job)
    // Not `exit`: what it has said may come after that.
    const closed = once(child, 'close')
    let out = ''
    child.stdout?.on('data', (data) => (out += data))
    this.#live.add(child)
    this.#begun(child)
    if (this.#over) child.send({ end: true })
    if (job.signal === 'SIGSTOP') await this.#goOn(child)
    else if (job.stopAt === undefined) await Promise.race([closed, this.#idle()])
    const isOver = job.stopAt === undefined || job.signal === 'SIGSTOP'
    if (isOver) this.#live.delete(child)
    if (isOver) child.send({ end: true }, () => {})
    // One that comes to its place only now stands still until it is woken.
    const waking = isOver ? setInterval(() => child.kill('SIGCONT'), 200) : undefined
    const [code, by] = await closed
    clearInterval(waking)
    this.#live.delete(child)
    if (by === 'SIGKILL' && job.stopAt !== undefined) this.kills++
    else if (code !== 0) this.problems.push(`a process ended with ${code ?? by}: ${out.slice(-500)}`)
    // It did not come to its place.
    else if (job.stopAt !== undefined && job.signal === 'SIGKILL') this.#left++
  }

  /** Until there is something to kill, or nothing to do. */
  async #idle(): Promise<void> {
    while (!this.#over && this.#left <= 0) await sleep(50)
  }

  /** A stopped process stands still for two leases, then goes on for another one. */
  async #goOn(child: ChildProcess): Promise<void> {
    while (child.exitCode === null && !isStopped(child.pid)) {
      if (this.#over) return
      await sleep(20)
    }
    if (child.exitCode !== null) return
    this.#live.delete(child)
    const { lease } = this.#place
    await sleep(lease * 2)
    child.kill('SIGCONT')
    this.stops++
    await sleep(lease)
  }
}
